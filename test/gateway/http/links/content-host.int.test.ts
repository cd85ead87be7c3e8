import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Envelope } from '../../../../shared/kernel/envelope.ts';
import { askNaming } from '../../../helpers/named-hosts.ts';
import { TestDisk } from '../../../shared/operations/disk.ts';
import { arrived, mailWith } from '../../mail/inbound/arrivals.ts';
import { TestSending } from '../../mail/outbound/sending.ts';

const HTML = '<!doctype html><script>alert(1)</script><p>Zwei – bitte</p>';
const FILE = 'x'.repeat(1_100_000);

let mail: TestSending;
let port: string;
/** Paths of one link of each kind. */
let links: { html: string; payload: string; file: string; shared: string };

beforeAll(async () => {
  mail = await TestSending.start({ contentHost: 'content.localhost' });
  ({ port } = new URL(mail.gateway.url));
  await mail.policy({ effect: 'allow' });
  const disk = await TestDisk.of(mail.gateway, () => mail.clock.now());
  await disk.addFile('large.txt', FILE);
  links = await handedOut();
});
afterAll(() => mail.stop());

/** What their addresses began with. */
const bases = new Set<string>();

function placeOf(link: string | null | undefined): string {
  const { origin, pathname } = new URL(link ?? '');
  bases.add(origin);
  return pathname;
}

async function handedOut(): Promise<typeof links> {
  const { gateway } = mail;
  const read = mailWith({ text: 'a'.repeat(300_000) }, { html: Buffer.from(HTML) });
  const event_id = await arrived(mail, read);
  const claimed = await gateway.call<Envelope>('POST', '/v1/inbox/claim', { body: { event_id } });
  const file = await gateway.call<{ download_url: string }>('GET', '/v1/files/large.txt');
  const body = { path: 'large.txt' };
  const shared = await gateway.call<{ url: string }>('POST', '/v1/file-urls', { body });
  return {
    html: placeOf(claimed.body.html_url),
    payload: placeOf(claimed.body.payload_url),
    file: placeOf(file.body.download_url),
    shared: placeOf(shared.body.url),
  };
}

const ask = (
  target: string,
  hosts: readonly string[],
  more?: Parameters<typeof askNaming>[3],
): ReturnType<typeof askNaming> => askNaming(mail.gateway.url, target, hosts, more);

const content = (): string => `content.localhost:${port}`;
const own = (): string => `127.0.0.1:${port}`;
const whole = (host: string, place: string): string => `http://${host}${place}`;

describe('with an origin of its own, what strangers wrote', () => {
  it('is where all links to it lead, and uploads stay', async () => {
    expect([...bases]).toEqual([`http://${content()}`]);
    const upload = await mail.gateway.call<{ upload_url: string }>('PUT', '/v1/files/new.txt', {
      body: { upload: { size: 3, content_type: 'text/plain' } },
      headers: { 'content-type': 'application/vnd.service.upload+json' },
    });
    expect(upload.body.upload_url).toMatch(`http://${own()}/u/`);
    const whoami = await mail.gateway.call('GET', '/v1/whoami');
    expect(whoami.body['urls']).toEqual({
      api: `http://${own()}`,
      mcp: `http://${own()}/mcp`,
      hooks: `http://${own()}`,
    });
  });

  it('is served there as ever', async () => {
    const html = await ask(links.html, [content()]);
    expect(html).toMatchObject({ status: 200, text: HTML });
    expect(html.headers['content-security-policy']).toMatch(/^sandbox; default-src 'none'/);
    const payload = await ask(links.payload, [content()]);
    expect([payload.status, payload.headers['content-disposition']]).toEqual([
      200,
      expect.stringMatching(/^attachment; /),
    ]);
    expect((await ask(links.file, [content()])).text).toBe(FILE);
    const part = await ask(links.shared, [content()], { headers: { Range: 'bytes=0-9' } });
    expect([part.status, part.text]).toEqual([206, 'x'.repeat(10)]);
    const head = await ask(links.shared, [content()], { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
    expect((await ask(links.html, [content()], { method: 'POST' })).status).toBe(405);
    const made = links.html.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    expect((await ask(made, [content()])).status).toBe(404);
    for (const { headers } of [html, payload, part]) expect(headers['set-cookie']).toBeUndefined();
  });

  it('is nowhere else: a link from before leads there, and is kept by no browser', async () => {
    for (const place of Object.values(links)) {
      for (const host of [own(), `localhost:${port}`, 'evil.example']) {
        const { status, headers, text } = await ask(place, [host]);
        expect([status, text]).toEqual([308, '']);
        expect(headers).toMatchObject({
          location: `http://${content()}${place}`,
          'cache-control': 'no-store',
          'referrer-policy': 'no-referrer',
        });
      }
      expect((await ask(place, [own()], { method: 'POST' })).status).toBe(405);
    }
  });
});

describe('the host of what strangers wrote', () => {
  it('has nothing else', async () => {
    const authorization = `Bearer ${mail.gateway.apiKey}`;
    const asked: readonly (readonly [string, string])[] = [
      ['GET', '/'],
      ['GET', '/v1/whoami'],
      ['GET', '/v1/openapi.json'],
      ['POST', '/v1/ui/links'],
      ['POST', '/mcp'],
      ['GET', '/v1/replica'],
      ['GET', '/ui'],
      ['GET', '/ui/sign-in'],
      ['GET', '/ui/style.css'],
      ['GET', '/ui/live'],
      ['POST', '/w/x'],
      ['PUT', '/u/x'],
      ['GET', '/a/x'],
      ['GET', '/c/x'],
      ['GET', '/s/x'],
      ['GET', '/favicon.ico'],
      ['GET', '/%75i'],
      ['GET', '/m/..%2f..%2fui'],
      ['GET', '//ui'],
    ];
    for (const [method, path] of asked) {
      const { status, headers } = await ask(path, [content()], {
        method,
        headers: { Authorization: authorization, 'Content-Length': '0' },
      });
      expect([path, status, headers['content-type']]).toEqual([path, 404, 'application/json']);
      expect(headers['set-cookie']).toBeUndefined();
    }
    expect((await ask('/m/../ui', [content()])).status).toBe(400);
    // The same ask, where the interface is.
    const found = await ask('/v1/whoami', [own()], { headers: { Authorization: authorization } });
    expect(found.status).toBe(200);
  });

  it.each([
    ['in capitals', (name: string) => name.toUpperCase()],
    ['with the dot that ends a name', (name: string) => name.replace(':', '.:')],
    ['without its port', (name: string) => name.replace(/:.*/, '')],
    ['at another port', (name: string) => name.replace(/:.*/, ':443')],
    ['in escapes', (name: string) => name.replace('c', '%63')],
    ['in wide letters', (name: string) => name.replace('c', '\uff43')],
  ])('is never taken for the other one: %s', async (_how, written) => {
    const host = Buffer.from(written(content())).toString('latin1');
    for (const path of ['/ui/sign-in', '/v1/openapi.json']) {
      const { status, headers } = await ask(path, [host]);
      expect([400, 404]).toContain(status);
      expect(headers['set-cookie']).toBeUndefined();
    }
    expect([200, 400]).toContain((await ask(links.html, [host])).status);
  });

  it.each([
    ['before it', (name: string) => `x.${name}`],
    ['behind it', (name: string) => name.replace(':', '.example.com:')],
    ['and another', (name: string) => `${name},${own()}`],
    ['as a user of another', (name: string) => `${name.replace(/:.*/, '')}@127.0.0.1`],
    ['with a path', (name: string) => `${name}/x`],
  ])('is not what only looks like it: %s', async (_how, written) => {
    const { status, text } = await ask(links.html, [written(content())]);
    expect([308, 400, 404]).toContain(status);
    expect(text).not.toContain('<p>');
  });

  it('is what the target names, and a request that names two gets nothing', async () => {
    const both: readonly (readonly [string, readonly string[]])[] = [
      [whole(content(), links.html), [own()]],
      [whole(own(), links.html), [content()]],
      [whole(content(), '/ui/sign-in'), [own()]],
      [whole(own(), '/ui/sign-in'), [content()]],
      [whole(content().toUpperCase(), '/ui/sign-in'), [own()]],
      [whole(own(), '/v1/openapi.json'), [content()]],
      [links.html, [own(), content()]],
      ['/ui/sign-in', [own(), content()]],
      ['/ui/sign-in', [content(), own()]],
    ];
    for (const [target, hosts] of both) {
      const { status, headers, text } = await ask(target, hosts);
      expect([target, [400, 404].includes(status)]).toEqual([target, true]);
      expect(headers['set-cookie']).toBeUndefined();
      expect(text).not.toContain('<p>');
    }
    expect((await ask(whole(content(), links.html), [content()])).text).toBe(HTML);
    expect((await ask(whole(content(), '/ui/sign-in'), [content()])).status).toBe(404);
    expect((await ask(whole(own(), '/ui/sign-in'), [own()])).status).toBe(200);
  });
});
