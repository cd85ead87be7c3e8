import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { TestPeople } from '../../approvals/people.ts';
import { escaped, HOSTILE } from './hostile-words.ts';
import { placeOf } from './places.ts';
import { WebVisitor } from './web-visitor.ts';

const OWNER = 'ana@example.com';
const HOUR_MS = 3_600_000;
/** Names have no slash and no character that reverses text. */
const NAME = HOSTILE.replace('</a>', '<a>').replace('</script>', '<b>');
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const clock = new FakeClock();
let gateway: TestGateway;
let owner: WebVisitor;
let disk: string;

beforeAll(async () => {
  gateway = await TestGateway.start({ clock });
  await gateway.gateway.setOwner(gateway.projectId, OWNER);
  const people = await TestPeople.of(gateway, clock);
  await people.setPolicy({ id: 'links', effect: 'allow', tool: 'file_url' });
  owner = await WebVisitor.asOwner(gateway, OWNER);
  disk = await placeOf(gateway, 'disk');
});
afterAll(() => gateway.stop());

const set = (key: string, body: unknown, query = '') =>
  gateway.call('PUT', `/v1/kv/${encodeURIComponent(key)}${query}`, { body });
const save = (task: string, state: unknown, note?: string, agent = 'robot') =>
  gateway.call('PUT', `/v1/state/${encodeURIComponent(task)}`, {
    body: { state, ...(note !== undefined && { note }) },
    headers: { 'x-service-agent': agent },
  });
const put = (path: string, type: string, bytes: string | Buffer) =>
  fetch(new URL(`/v1/files/${encodeURIComponent(path)}`, gateway.url), {
    method: 'PUT',
    headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': type },
    body: typeof bytes === 'string' ? bytes : new Uint8Array(bytes),
  });
const url = (section: string, query: Record<string, string>) =>
  `${disk}${section}?${new URLSearchParams(query).toString()}`;
/** The names of a list, without their marks. */
const namesIn = (html: string) =>
  [...html.matchAll(/class="what"><span class="agent exact mono"[^>]*>([^<]*)</g)].map(
    ([, name]) => name,
  );

describe('the keys', () => {
  beforeAll(async () => {
    for (const key of ['a/1', 'a/2', 'a/deep/3', 'a0', 'b', 'z/only']) await set(key, { of: key });
  });

  it('stand in folders, which open one by one', async () => {
    const { html } = await owner.get(disk);
    expect(namesIn(html)).toEqual(['a/', 'a0', 'b', 'z/']);
    const below = await owner.get(url('', { prefix: 'a/' }));
    expect(namesIn(below.html)).toEqual(['1', '2', 'deep/']);
    expect(below.html).toContain(`href="${disk}?prefix=a%2Fdeep%2F"`);
    expect(namesIn((await owner.get(url('', { prefix: 'a/d' }))).html)).toEqual(['deep/']);
    expect((await owner.get(url('', { prefix: 'none/' }))).html).toContain('No keys here');
  });

  it('go on where a long list stops', async () => {
    const names = Array.from({ length: 103 }, (_, n) => `long/${String(n).padStart(3, '0')}/x`);
    await Promise.all(names.map((name) => set(name, 1)));
    const first = await owner.get(url('', { prefix: 'long/' }));
    expect(namesIn(first.html)).toHaveLength(100);
    const next = /href="(\?[^"]*cursor=[^"]*)"/.exec(first.html)?.[1]?.replaceAll('&amp;', '&');
    const more = await owner.get(`${disk}${next}`);
    expect(namesIn(more.html)).toEqual(['100/', '101/', '102/']);
    expect((await owner.get(`${disk}?cursor=AA`)).status).toBe(404);
  });

  it('are shown with value, end and version', async () => {
    await set('lease', { by: 'robot', n: 12345678901234567890n.toString() }, '?ttl_seconds=7200');
    const { html } = await owner.get(url('', { key: 'lease' }));
    expect(html).toMatch(/data-k="\.by".*?robot/s);
    const raw = await owner.get(url('', { key: 'lease', view: 'raw' }));
    expect(raw.html).toContain('&quot;by&quot;: &quot;robot&quot;');
    expect(html).toMatch(/Expires<\/dt><dd>in 2 h/);
    expect(html).toMatch(/Version<\/dt><dd>\d+</);
    expect((await owner.get(url('', { key: 'none' }))).status).toBe(404);
    clock.advance(3 * HOUR_MS);
    owner = await WebVisitor.asOwner(gateway, OWNER);
    expect((await owner.get(url('', { key: 'lease' }))).status).toBe(404);
    expect(namesIn((await owner.get(disk)).html)).not.toContain('lease');
  });

  it('lead to a part of a long value, and stay with their key', async () => {
    await set('deep', { list: Array.from({ length: 120 }, (_, n) => ({ n })) });
    const { html } = await owner.get(url('', { key: 'deep' }));
    const [more = ''] = /\?key=deep&amp;view=tree&amp;at=%2Flist&amp;from=100/.exec(html) ?? [];
    const part = await owner.get(disk + more.replaceAll('&amp;', '&'));
    expect(part.html).toMatch(/data-k="\[119\]"/);
    expect(part.html).toContain('href="?key=deep&amp;view=tree"');
  });

  it('are deleted in two steps, unless somebody wrote them meanwhile', async () => {
    await set('old', 1);
    const asked = await owner.get(url('', { key: 'old', step: 'delete' }));
    const version = /name="version" value="(\d+)"/.exec(asked.html)?.[1] ?? '';
    await set('old', 2);
    const refused = await owner.post(url('', { key: 'old' }), {
      fields: { act: 'delete', version },
    });
    expect([refused.status, refused.html.includes('role="alert"')]).toEqual([412, true]);
    const again = await owner.get(url('', { key: 'old', step: 'delete' }));
    const now = /name="version" value="(\d+)"/.exec(again.html)?.[1] ?? '';
    const sent = await owner.post(url('', { key: 'old' }), {
      fields: { act: 'delete', version: now },
    });
    expect([sent.status, sent.location]).toEqual([303, `${disk}?prefix=`]);
    expect((await owner.get(url('', { key: 'old' }))).status).toBe(404);
    await set('old', 3);
    await owner.get(url('', { key: 'old' }));
    const unclear = await owner.post(url('', { key: 'old' }), { fields: { act: 'delete' } });
    expect([unclear.status, unclear.html.includes('Nothing was done.')]).toEqual([400, true]);
  });
});

describe('a task state', () => {
  it('shows its versions, each with its note, and what changed between two', async () => {
    await save('deploy/42', { step: 1, left: ['a', 'b', 'c'] }, 'begins');
    await save('deploy/42', { step: 2, left: ['b', 'c'] }, 'waits for Ines', 'other');
    await save('deploy/42', { step: 2, left: ['b', 'c'] });
    const list = await owner.get(url('/states', { prefix: 'deploy/' }));
    expect(namesIn(list.html)).toEqual(['42']);
    const { html } = await owner.get(url('/states', { task: 'deploy/42' }));
    expect(html).toContain('3 versions');
    expect(html).toContain('Both versions hold the same');
    const versions = [...html.matchAll(/version=(\d+)" [^>]*data-row/g)].map(
      ([, one]) => one ?? '',
    );
    expect(versions).toHaveLength(3);
    const [, second = '', first = ''] = versions;
    const middle = await owner.get(url('/states', { task: 'deploy/42', version: second }));
    expect(middle.html).toContain('waits for Ines');
    expect(middle.html).toMatch(/2 changes from version.*?left\[0\].*?&quot;a&quot;.*?nothing/s);
    const compared = await owner.get(
      url('/states', { task: 'deploy/42', version: first, with: versions[0] ?? '' }),
    );
    expect(compared.html).toContain(`2 changes from version ${first} to ${versions[0]}`);
    expect((await owner.get(url('/states', { task: 'deploy/42', version: '1x' }))).status).toBe(
      404,
    );
    expect((await owner.get(url('/states', { task: 'none' }))).status).toBe(404);
  });
});

describe('a file', () => {
  it('shows text and JSON as text, however it calls itself', async () => {
    await put('notes/page.html', 'text/html', '<script>alert(1)</script>');
    await put('notes/data.json', 'application/json', '{"n":1.10,"list":[1]}');
    await put('notes/raw.bin', 'application/octet-stream', Buffer.from([0, 255, 1]));
    expect(namesIn((await owner.get(url('/files', { prefix: 'notes/' }))).html)).toEqual([
      'data.json',
      'page.html',
      'raw.bin',
    ]);
    const page = await owner.get(url('/files', { path: 'notes/page.html' }));
    expect(page.html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page.html).not.toContain('<img');
    expect(page.headers.get('content-security-policy')).not.toContain('/d/');
    const json = await owner.get(url('/files', { path: 'notes/data.json' }));
    expect(json.html).toMatch(/data-k="\.n".*?1\.10/s);
    const raw = await owner.get(url('/files', { path: 'notes/raw.bin' }));
    expect(raw.html).toContain('isn’t text');
    expect((await owner.get(url('/files', { path: 'none' }))).status).toBe(404);
  });

  it('shows a picture from where nothing of it runs, and no SVG', async () => {
    await put('pics/dot.png', 'image/png', Buffer.from(PIXEL, 'base64'));
    await put('pics/evil.svg', 'image/svg+xml', '<svg onload="alert(1)"/>');
    const { html, headers } = await owner.get(url('/files', { path: 'pics/dot.png' }));
    expect(headers.get('content-security-policy')).toContain(` ${gateway.url}/d/;`);
    const src = /<img[^>]* src="([^"]+)"/.exec(html)?.[1] ?? '';
    const picture = await fetch(src);
    expect(picture.headers.get('content-type')).toBe('image/png');
    expect(picture.headers.get('content-security-policy')).toContain('sandbox');
    expect(picture.headers.get('x-content-type-options')).toBe('nosniff');
    expect(Buffer.from(await picture.arrayBuffer()).toString('base64')).toBe(PIXEL);
    const svg = await owner.get(url('/files', { path: 'pics/evil.svg' }));
    expect(svg.html).not.toContain('<img');
    expect(svg.html).toContain('&lt;svg onload=');
  });

  it('is deleted in two steps', async () => {
    await put('gone.txt', 'text/plain', 'x');
    const asked = await owner.get(url('/files', { path: 'gone.txt', step: 'delete' }));
    const version = /name="version" value="(\d+)"/.exec(asked.html)?.[1] ?? '';
    const fields = { act: 'delete', version };
    const sent = await owner.post(url('/files', { path: 'gone.txt' }), { fields });
    expect(sent.status).toBe(303);
    expect((await owner.get(url('/files', { path: 'gone.txt' }))).status).toBe(404);
  });
});

describe('the public links', () => {
  it('show their ends, and are ended by a person', async () => {
    await put('share/a.txt', 'text/plain', 'shared');
    const { link_id: id, url: open } = await makeLink('share/a.txt', 86_400);
    const { html } = await owner.get(`${disk}/links`);
    expect(html).toMatch(/share\/a\.txt.*?in 1 d, at/s);
    expect((await owner.get(url('/files', { path: 'share/a.txt' }))).html).toContain('End link');
    expect((await fetch(open)).status).toBe(200);
    const asked = await owner.get(`${disk}/links?end=${id}`);
    expect(asked.html).toContain('End this link?');
    const sent = await owner.post(`${disk}/links`, { fields: { act: 'end', link: id } });
    expect([sent.status, sent.location]).toEqual([303, `${disk}/links`]);
    expect((await fetch(open)).status).toBe(404);
    expect((await owner.get(`${disk}/links`)).html).toContain('No public links');
    const { body } = await gateway.call<{ items: { subject: string; platform: string }[] }>(
      'GET',
      '/v1/ledger?op=file_link.revoked',
    );
    expect(body.items).toMatchObject([{ subject: id, platform: 'web' }]);
  });
});

/** A link that the policy allows. */
async function makeLink(path: string, expires_in: number) {
  const { body } = await gateway.call<{ link_id: string; url: string }>('POST', '/v1/file-urls', {
    body: { path, expires_in, wait_seconds: 0 },
  });
  return body;
}

describe('what strangers wrote', () => {
  it('is text on every page', async () => {
    await set(`h/${NAME}`, { [HOSTILE]: HOSTILE });
    await save(`h/${NAME}`, { [HOSTILE]: HOSTILE }, HOSTILE);
    await save(`h/${NAME}`, { [HOSTILE]: 2 }, HOSTILE);
    await put(`h/${NAME}`, 'text/plain', HOSTILE);
    const pages = [
      url('', { prefix: 'h/' }),
      url('', { prefix: `h/${NAME}` }),
      url('', { key: `h/${NAME}` }),
      url('', { key: `h/${NAME}`, step: 'delete' }),
      url('/states', { prefix: 'h/' }),
      url('/states', { task: `h/${NAME}` }),
      url('/files', { prefix: 'h/' }),
      url('/files', { path: `h/${NAME}` }),
    ];
    const shown = NAME.slice(0, NAME.indexOf(' '));
    for (const page of pages) {
      const { status, html } = await owner.get(page);
      expect([page, status]).toEqual([page, 200]);
      expect(html).not.toContain('<script>document');
      expect(html).toContain(escaped(shown));
    }
  });
});

describe('a key', () => {
  it('that is limited to prefixes sees only those', async () => {
    await set('team-a/x', 'ours');
    await set('team-b/x', 'theirs');
    await put('team-a/f.txt', 'text/plain', 'ours');
    await put('team-b/f.txt', 'text/plain', 'theirs');
    await save('team-a/t', 1);
    await save('team-b/t', 1);
    const { body } = await gateway.call<{ api_key: string }>('POST', '/v1/keys', {
      body: { name: 'a', scopes: ['disk'], disk_prefixes: ['team-a/'] },
    });
    const visitor = await WebVisitor.withKey(gateway, body.api_key);
    expect(namesIn((await visitor.get(disk)).html)).toEqual(['state/', 'team-a/']);
    expect(namesIn((await visitor.get(`${disk}/states`)).html)).toEqual(['team-a/']);
    expect(namesIn((await visitor.get(`${disk}/files`)).html)).toEqual(['team-a/']);
    expect((await visitor.get(url('', { key: 'team-a/x' }))).html).toContain('ours');
    for (const page of [
      url('', { key: 'team-b/x' }),
      url('', { prefix: 'team-b/' }),
      url('/states', { task: 'team-b/t' }),
      url('/files', { path: 'team-b/f.txt' }),
      url('/files', { prefix: 'team-b/' }),
    ]) {
      const { status, html } = await visitor.get(page);
      expect([page, status, html.includes('theirs')]).toEqual([page, 403, false]);
    }
    const { link_id: id } = await makeLink('team-b/f.txt', 3600);
    expect((await visitor.get(`${disk}/links`)).html).toContain('No public links');
    await visitor.get(`${disk}/links`);
    await visitor.post(`${disk}/links`, { fields: { act: 'end', link: id } });
    expect((await owner.get(`${disk}/links`)).html).toContain('team-b/f.txt');
  });

  it('that only reads changes nothing, and one without the scope sees nothing', async () => {
    await set('kept', 1);
    const reader = await WebVisitor.withKey(gateway, await gateway.key('disk:read'));
    const { html } = await reader.get(url('', { key: 'kept' }));
    expect(html).not.toContain('step=delete');
    const version = /Version<\/dt><dd>(\d+)/.exec(html)?.[1] ?? '';
    const sent = await reader.post(url('', { key: 'kept' }), {
      fields: { act: 'delete', version },
    });
    expect(sent.status).toBe(403);
    const other = await WebVisitor.withKey(gateway, await gateway.key('inbox:read'));
    expect((await other.get(disk)).status).toBe(404);
  });
});
