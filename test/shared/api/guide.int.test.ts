import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../helpers/gateway.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await TestGateway.start();
});
afterAll(() => gateway.stop());

/** Without a key, as whoever has only the address. */
function read(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(new URL(path, gateway.url), init);
}

/** The targets of links to pages, seen from a page. */
function linksOf(text: string, from: string): string[] {
  return [...text.matchAll(/\]\(([\w./-]+\.(?:md|json))(?:#[^)]*)?\)/g)].map(
    ([, target = '']) => new URL(target, new URL(from, gateway.url)).pathname,
  );
}

/** Pages for those who have the checkout. */
const IN_THE_CHECKOUT = /^\/(?:CONTRIBUTING\.md|(?:cli|clients|daemon|gateway|shared|test)\/)/;

/** Every page that links lead to, from the first one on. */
async function walk(): Promise<Map<string, Response>> {
  const seen = new Map<string, Response>();
  const open = ['/llms.txt'];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const answer = await read(path);
    seen.set(path, answer);
    const links = path.endsWith('.json') ? [] : linksOf(await answer.clone().text(), path);
    open.push(...links.filter((one) => !seen.has(one) && !IN_THE_CHECKOUT.test(one)));
  }
  return seen;
}

describe('whoever has only the address of a gateway', () => {
  it('is told at the bare address where to begin', async () => {
    const answer = await read('/');
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ error: { hint: expect.stringMatching(/llms/) } });
  });

  it('reads every page by links from there, without a key', async () => {
    const seen = await walk();
    expect(seen.size).toBeGreaterThan(40);
    const broken = [...seen].filter(([, { status }]) => status !== 200).map(([path]) => path);
    expect(broken).toEqual([]);
  });

  it('gets the pages of the package, as Markdown', async () => {
    const page = await read('/docs/agents.md');
    expect(page.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(await page.text()).toBe(readFileSync('docs/agents.md', 'utf8'));
    const index = await read('/llms.txt');
    expect(index.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await index.text()).toBe(readFileSync('llms.txt', 'utf8'));
  });

  it('gets a page once, until it changes', async () => {
    const first = await read('/SKILL.md');
    const known = { headers: { 'if-none-match': first.headers.get('etag') ?? '' } };
    expect((await read('/SKILL.md', known)).status).toBe(304);
  });
});

describe('a page that is not listed', () => {
  it.each([
    '/docs/none.md',
    '/docs/figures.json',
    '/docs/inbox-phone.png',
    '/docs/..%2fpackage.json',
    '/docs/%2e%2e%2fpackage.json',
    '/docs/',
    '/package.json',
    '/LICENSE',
  ])('%s is not there', async (path) => {
    const answer = await read(path);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ error: { code: 'NOT_FOUND' } });
  });

  it('names its one method', async () => {
    const answer = await read('/docs/agents.md', { method: 'POST', body: '{}' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET']);
  });
});
