import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Envelope } from '../../../../shared/kernel/envelope.ts';
import { TestDisk } from '../../../shared/operations/disk.ts';
import { refused } from '../../approvals/people.ts';
import { TestSending } from '../outbound/sending.ts';
import { arrived, fileWith, mailWith } from './arrivals.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let mail: TestSending;
beforeEach(async () => {
  mail = await TestSending.start();
  await mail.allowAll();
});
afterEach(() => mail.stop());

const call = <T = Record<string, unknown>>(method: string, path: string, body?: unknown) =>
  mail.gateway.call<T>(method, path, body === undefined ? {} : { body });

const file = (path: string) => call('GET', `/v1/files/${encodeURIComponent(path)}`);

const claim = async (event_id: string): Promise<Envelope> =>
  (await call<Envelope>('POST', '/v1/inbox/claim', { event_id })).body;

const paths = async (prefix: string, limit = 100): Promise<string[]> => {
  const found: string[] = [];
  let cursor = '';
  do {
    const query = new URLSearchParams({ prefix, limit: String(limit), ...(cursor && { cursor }) });
    const { body } = await call<{ items: { path: string }[]; next_cursor: string | null }>(
      'GET',
      `/v1/files?${query.toString()}`,
    );
    found.push(...body.items.map(({ path }) => path));
    cursor = body.next_cursor ?? '';
  } while (cursor !== '');
  return found;
};

describe('an attachment of a mail', () => {
  it('is read as a file of its event', async () => {
    const id = await arrived(
      mail,
      mailWith({}, { files: [fileWith('Bestellung ü.csv', 'a,b\n', 'text/csv')] }),
    );
    const path = `${id}/Bestellung ü.csv`;
    const seen = await file(path);
    expect(seen).toMatchObject({
      status: 200,
      body: {
        path,
        ref: `disk://${path}`,
        size_bytes: 4,
        content_type: 'text/csv',
        updated_at: new Date(mail.clock.now()).toISOString(),
        content_base64: Buffer.from('a,b\n').toString('base64'),
        version: 1,
      },
    });
    expect((await file(`disk://${path}`)).body).toEqual(seen.body);
    expect(await file(`${id}/other.csv`)).toMatchObject(refused(404, 'NOT_FOUND'));
    expect(await file(`evt_${'0'.repeat(26)}/Bestellung ü.csv`)).toMatchObject(
      refused(404, 'NOT_FOUND'),
    );
  });

  it('over 1 MB is behind a link', async () => {
    const bytes = Buffer.alloc(1024 * 1024 + 1, 7);
    const id = await arrived(mail, mailWith({}, { files: [fileWith('big.bin', bytes)] }));
    const { body } = await file(`${id}/big.bin`);
    expect(body['content_base64']).toBeUndefined();
    const response = await fetch(String(body['download_url']));
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it('has a link in the claim, which needs no key and holds for an hour', async () => {
    const files = [fileWith('Bestellung ü.csv', 'a,b\n', 'text/csv')];
    const id = await arrived(mail, mailWith({}, { files }));
    const [listed] = (await call<{ items: Envelope[] }>('GET', '/v1/inbox')).body.items;
    expect(listed?.attachments?.[0]).not.toHaveProperty('url');
    const [attached] = (await claim(id)).attachments ?? [];
    expect(attached).toMatchObject({
      name: 'Bestellung ü.csv',
      url: expect.stringContaining(`${mail.gateway.url}/d/`),
      url_expires_at: new Date(mail.clock.now() + HOUR).toISOString(),
    });
    const url = attached?.url ?? '';
    const response = await fetch(url);
    expect(await response.text()).toBe('a,b\n');
    expect(response.headers.get('content-disposition')).toContain('attachment');
    mail.clock.advance(HOUR - 1);
    expect((await fetch(url)).status).toBe(200);
    mail.clock.advance(1);
    expect((await fetch(url)).status).toBe(404);
  });

  it('is listed below its event, in byte order and page by page, and nowhere else', async () => {
    await mail.file('zzz.txt', 'on the disk');
    const names = ['\u{1f600}.txt', '\uff08.txt', 'b.txt', 'a.txt', 'ab.txt', 'ä.txt'];
    const files = names.map((name) => fileWith(name, name));
    const id = await arrived(mail, mailWith({}, { files, html: Buffer.from('<p>') }));
    const sorted = names
      .map((name) => `${id}/${name}`)
      .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(await paths(`${id}/`)).toEqual(sorted);
    for (const limit of [1, 2, 5]) expect(await paths(`${id}/`, limit)).toEqual(sorted);
    expect(await paths(`${id}/a`)).toEqual([`${id}/a.txt`, `${id}/ab.txt`]);
    expect(await paths(`disk://${id}/b`)).toEqual([`${id}/b.txt`]);
    expect(await paths('')).toEqual(['zzz.txt']);
    expect(await paths('evt_')).toEqual([]);
  });

  it('is given to others by a public link, as long as it is there', async () => {
    await mail.policy({ effect: 'allow', tool: ['file_url'] });
    const id = await arrived(mail, mailWith({}, { files: [fileWith('a.txt', 'one')] }));
    const { body } = await call<{ url: string }>('POST', '/v1/file-urls', {
      path: `${id}/a.txt`,
      expires_in: 7 * 86_400,
    });
    const response = await fetch(body.url);
    expect(await response.text()).toBe('one');
    expect(response.headers.get('content-disposition')).toContain('attachment');
    expect(await call('POST', '/v1/file-urls', { path: `${id}/b.txt` })).toMatchObject(
      refused(404, 'NOT_FOUND'),
    );
  });

  it('goes with a mail that is sent', async () => {
    const id = await arrived(mail, mailWith({}, { files: [fileWith('a.txt', 'passed on')] }));
    await mail.ended(await mail.sent({ attachments: [`${id}/a.txt`] }));
    const [sent = ''] = mail.outbox();
    expect(sent).toContain('filename=a.txt');
    expect(sent).toContain(Buffer.from('passed on').toString('base64'));
  });

  it('is never written', async () => {
    const id = await arrived(mail, mailWith({}, { files: [fileWith('a.txt', 'one')] }));
    for (const name of ['a.txt', 'new.txt']) {
      const path = `/v1/files/${encodeURIComponent(`${id}/${name}`)}`;
      expect(await call('DELETE', path)).toMatchObject(refused(400, 'PATH_RESERVED'));
      const put = await fetch(mail.gateway.url + path, {
        method: 'PUT',
        headers: { authorization: `Bearer ${mail.gateway.apiKey}` },
        body: 'two',
      });
      expect(await put.json()).toMatchObject({ error: { code: 'PATH_RESERVED' } });
    }
    expect((await file(`${id}/a.txt`)).body['content_base64']).toBe(
      Buffer.from('one').toString('base64'),
    );
  });

  it('is unknown to other projects', async () => {
    const id = await arrived(
      mail,
      mailWith({}, { files: [fileWith('a.txt', 'one')], html: Buffer.from('<p>') }),
    );
    const other = await mail.neighbour('other');
    const path = `${id}/a.txt`;
    const unknown = refused(404, 'NOT_FOUND');
    expect(await other.call('GET', `/v1/files/${encodeURIComponent(path)}`)).toMatchObject(unknown);
    expect((await other.call('GET', `/v1/files?prefix=${id}/`)).body['items']).toEqual([]);
    expect(await other.call('POST', '/v1/file-urls', { path })).toMatchObject(unknown);
    expect(await other.call('POST', '/v1/inbox/claim', { event_id: id })).toMatchObject(unknown);
    const attached = await other.send({ attachments: [path], reply_to_inbox: false });
    expect(attached).toMatchObject(refused(400, 'VALIDATION_FAILED'));
  });
});

describe('what came with a mail, after 30 days', () => {
  it('is gone with its payload, but for what is kept elsewhere', async () => {
    const disk = await TestDisk.of(mail.gateway, () => mail.clock.now());
    await mail.file('kept.txt', 'kept');
    await mail.policy({ effect: 'allow' });
    const files = [
      fileWith('a.txt', 'one'),
      fileWith('b.txt', 'one'),
      fileWith('kept.txt', 'kept'),
    ];
    const read = mailWith({ text: 'a'.repeat(300_000) }, { files, html: Buffer.from('<p>Two') });
    const id = await arrived(mail, read);
    expect(disk.blobFiles()).toHaveLength(4);
    mail.clock.advance(30 * DAY - 30 * 60_000);
    const link = await call<{ url: string }>('POST', '/v1/file-urls', { path: `${id}/a.txt` });
    const { html_url: htmlUrl, payload_url: payloadUrl } = await claim(id);
    const links = [link.body.url, htmlUrl ?? '', payloadUrl ?? ''];
    for (const url of links) expect((await fetch(url)).status).toBe(200);
    mail.clock.advance(30 * 60_000 + 1);
    await mail.maintenance();
    for (const url of links) expect((await fetch(url)).status).toBe(404);
    expect(await file(`${id}/a.txt`)).toMatchObject(refused(404, 'NOT_FOUND'));
    expect(await paths(`${id}/`)).toEqual([]);
    const { body } = await call<{ items: Envelope[] }>('GET', '/v1/inbox?status=claimed');
    const { body: pending } = await call<{ items: Envelope[] }>('GET', '/v1/inbox');
    expect([...body.items, ...pending.items]).toMatchObject([
      { id, payload: null, payload_purged: true, attachments: [], attachments_blocked: [] },
    ]);
    await expect.poll(() => disk.blobFiles()).toHaveLength(1);
    expect((await file('kept.txt')).body['content_base64']).toBe(
      Buffer.from('kept').toString('base64'),
    );
  });
});

describe('the HTML of a mail', () => {
  const HTML = '<!doctype html><script>alert(1)</script><p>Zwei – bitte</p>';

  async function htmlUrl(): Promise<string> {
    const id = await arrived(mail, mailWith({}, { html: Buffer.from(HTML) }));
    return (await claim(id)).html_url ?? '';
  }

  it('is shown as it is, on a page that may do nothing', async () => {
    const url = await htmlUrl();
    const response = await fetch(url);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(HTML);
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-robots-tag': 'noindex',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(headers['set-cookie']).toBeUndefined();
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const post = await fetch(url, { method: 'POST' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('is there for an hour', async () => {
    const url = await htmlUrl();
    mail.clock.advance(HOUR - 1);
    expect((await fetch(url)).status).toBe(200);
    mail.clock.advance(1);
    expect((await fetch(url)).status).toBe(404);
  });

  it('is there for nobody who makes a link up', async () => {
    const url = await htmlUrl();
    const payload = mailWith({ text: 'a'.repeat(300_000) }, { html: Buffer.from(HTML) });
    const large = await claim(await arrived(mail, payload));
    const parts = new URL(url).pathname.split('/');
    const put = (at: number, text: string) => parts.with(at, text).join('/');
    const later = String(Number(parts[4]) + 1);
    const other = await mail.neighbour('other');
    const made = [
      put(5, 'x'),
      put(5, ''),
      put(4, later),
      put(4, 'NaN'),
      put(3, large.id),
      put(3, 'evt_'),
      put(2, other.project.info.id.slice(4)),
      put(2, 'none'),
      // A link to the payload is none to the HTML, and the other way round.
      put(1, 'l'),
      new URL(large.payload_url ?? '').pathname.replace('/l/', '/m/'),
    ];
    for (const path of made) {
      const response = await fetch(mail.gateway.url + path);
      expect([path, response.status]).toEqual([path, 404]);
      expect(response.headers.get('content-type')).toContain('application/json');
    }
  });

  it('is not offered where there is none', async () => {
    expect(await claim(await arrived(mail, mailWith()))).toMatchObject({ html_url: null });
  });
});
