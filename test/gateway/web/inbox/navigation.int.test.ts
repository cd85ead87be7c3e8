import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../../helpers/gateway.ts';
import { placeOf } from './places.ts';
import { WebVisitor, type Page } from './web-visitor.ts';

let gateway: TestGateway;
let base: string;

beforeAll(async () => {
  gateway = await TestGateway.start();
  base = (await placeOf(gateway, 'settings')).replace(/settings$/, '');
});
afterAll(() => gateway.stop());

interface Link {
  readonly path: string;
  readonly mark: string | null;
}

/** The links in a part of a page, by the name of that part. */
function linksIn({ html }: Page, label: string): Link[] {
  const part = new RegExp(`<nav id="\\w+" aria-label="${label}">.*?</nav>`, 's').exec(html)?.[0];
  return [...(part ?? '').matchAll(/<a href="([^"]*)"(?: aria-current="(\w+)")?>/g)].map(
    ([, path = '', mark]) => ({ path: path.slice(base.length), mark: mark ?? null }),
  );
}

async function keyWith(...scopes: string[]): Promise<WebVisitor> {
  const body = { name: 'limited', scopes };
  const { api_key: key } = (await gateway.call<{ api_key: string }>('POST', '/v1/keys', { body }))
    .body;
  return WebVisitor.withKey(gateway, key);
}

describe('the navigation', () => {
  it('has at most six links in its first row, and marks the group of the page', async () => {
    const visitor = await WebVisitor.withKey(gateway);
    for (const [page, current] of [
      ['requests', { path: 'requests', mark: 'page' }],
      ['settings', { path: 'settings', mark: 'page' }],
      ['ledger', { path: 'settings', mark: 'true' }],
      ['sources?add=webhook', { path: 'settings', mark: 'true' }],
    ] as const) {
      const links = linksIn(await visitor.get(base + page), 'Pages');
      expect(links.length).toBeLessThanOrEqual(6);
      expect(links.filter(({ mark }) => mark !== null)).toEqual([current]);
    }
  });

  it('lists the settings by section, and beside each of their pages', async () => {
    const visitor = await WebVisitor.withKey(gateway);
    const settings = [
      'sources',
      'routes',
      'members',
      'channels',
      'browsers',
      'policy',
      'keys',
      'sessions',
    ];
    const all = [...settings, 'ledger', 'usage'];
    const index = await visitor.get(`${base}settings`);
    const rows = [...index.html.matchAll(/<a href="([^"]*)" data-row/g)];
    expect(rows.map(([, path = '']) => path.slice(base.length))).toEqual(all);
    const beside = linksIn(await visitor.get(`${base}keys`), 'Settings');
    expect(beside.map(({ path }) => path)).toEqual(all);
    expect(beside.filter(({ mark }) => mark !== null)).toEqual([{ path: 'keys', mark: 'page' }]);
    expect(linksIn(await visitor.get(`${base}requests`), 'Settings')).toEqual([]);
  });

  it('shows a limited key only what it may open', async () => {
    const visitor = await keyWith('ledger:read');
    const page = await visitor.get(`${base}settings`);
    expect(linksIn(page, 'Pages').map(({ path }) => path)).toEqual(['overview', 'settings']);
    const settings = linksIn(await visitor.get(`${base}keys`), 'Settings').map(({ path }) => path);
    expect(settings).toEqual(['members', 'keys', 'sessions', 'ledger', 'usage']);
    expect((await visitor.get(`${base}sources`)).status).toBe(404);
    expect((await visitor.get(`${base}settings/sources`)).status).toBe(404);
  });
});
