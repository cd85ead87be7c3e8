import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createVault, loadMasterKey } from '../../../../gateway/lib/vault.ts';
import { projectBody } from '../../../../shared/lib/ids.ts';
import { fileDownloadLink, fileLinkText } from '../../../../shared/kernel/links.ts';
import { changed } from '../../../helpers/changed.ts';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { TestDisk } from '../../../shared/operations/disk.ts';

const HOUR_MS = 3_600_000;
const DIGITS = '0123456789';
let clock: FakeClock;
let gateway: TestGateway;
let disk: TestDisk;
/** The project's own key. */
let holder: string;
beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock });
  disk = await TestDisk.of(gateway, () => clock.now());
  const own = await gateway.call<{ key: { id: string } }>('GET', '/v1/whoami');
  holder = own.body.key.id;
});
afterEach(() => gateway.stop());

const NOT_FOUND = {
  status: 404,
  body: { error: { code: 'NOT_FOUND', message: 'Not found.', hint: null } },
};

async function answerOf(url: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(url);
  return { status: response.status, body: await response.json().catch(() => null) };
}

function vault() {
  return createVault(loadMasterKey(join(gateway.folder, 'master.key')));
}

/** The terms of a link that was given to the project's key. */
function termsUntil(expiresAtMs: number) {
  return { expiresAtMs, holder };
}

function signedLink(path: string, version: number, expiresAt = clock.now() + HOUR_MS): string {
  const server = {
    version: '0',
    urls: { api: gateway.url, mcp: gateway.url, hooks: gateway.url },
    channels: [],
    telegramBot: null,
    mail: { domain: null, from: null },
  };
  const context = { vault: vault(), server };
  return fileDownloadLink(context, gateway.projectId, { path, version }, termsUntil(expiresAt));
}

/** Both kinds of links to a new file. */
async function linksTo(path: string, bytes: Uint8Array | string, type?: string): Promise<string[]> {
  const version = await disk.addFile(path, bytes, type);
  return [await disk.addLink(path, version), signedLink(path, version)];
}

/** As they came over the wire, without a client that puts them right. */
function rawHeaders(url: string, method: string): Promise<NodeJS.Dict<string | string[]>> {
  return new Promise((resolve, reject) => {
    request(url, { method, agent: false }, (answer) => {
      answer.resume().on('end', () => resolve(answer.headers));
    })
      .on('error', reject)
      .end();
  });
}

/** The id of a new key. */
const createKey = async (body: Record<string, unknown>): Promise<string> => {
  const answer = await gateway.call<{ id: string }>('POST', '/v1/keys', {
    body: { name: 'test', scopes: ['inbox:read'], ...body },
  });
  expect(answer.status).toBe(201);
  return answer.body.id;
};

/** What there is to say of an answer to a request with these headers. */
const ask = async (url: string, headers: Record<string, string>, method = 'GET') => {
  const response = await fetch(url, { method, headers });
  const { status } = response;
  const named = (name: string): string | null => response.headers.get(name);
  return {
    status,
    range: named('content-range'),
    length: named('content-length'),
    type: named('content-type'),
    text: await response.text(),
  };
};

describe('a link', () => {
  it('gives the file as a download that nothing will run', async () => {
    for (const url of await linksTo('reports/may.html', '<script>', 'text/html')) {
      const response = await fetch(url);
      expect(response.status).toBe(200);
      expect(await response.text()).toBe('<script>');
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'text/html',
        'content-disposition': `attachment; filename="may.html"; filename*=UTF-8''may.html`,
        'content-security-policy':
          "sandbox; default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        'accept-ranges': 'bytes',
        'content-length': '8',
        etag: '"1"',
        'x-request-id': expect.stringMatching(/^\w+$/) as string,
      });
    }
  });

  it('gives every byte', async () => {
    const bytes = randomBytes(300_001);
    for (const url of await linksTo('a.bin', bytes, 'application/octet-stream')) {
      expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(bytes)).toBe(true);
    }
  });

  it('gives an empty file', async () => {
    for (const url of await linksTo('empty', '')) {
      const response = await fetch(url);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-length')).toBe('0');
      expect(await response.text()).toBe('');
    }
  });

  it.each([
    'it\'s "quoted"; filename="x.exe".txt',
    '-–—€ höhe 😀.txt',
    '|GET|file|1|2.txt',
    'back\\slash.txt',
    'percent%0d%0aX-Evil: 1',
    'x'.repeat(512),
    '😀'.repeat(128),
  ])('names the file, whatever it is called: %.40s', async (name) => {
    const path = name.length < 200 ? `folder/${name}` : name;
    for (const url of await linksTo(path, 'content')) {
      const headers = await rawHeaders(url, 'GET');
      const disposition = String(headers['content-disposition']);
      expect(disposition).toMatch(/^attachment; filename="[^"\\]*"; filename\*=UTF-8''[^"';, ]*$/);
      const [, encoded = ''] = disposition.split("UTF-8''");
      expect(decodeURIComponent(encoded)).toBe(name);
      expect(headers).not.toHaveProperty('x-evil');
    }
  });

  it('answers HEAD with the headers of GET and no body', async () => {
    for (const url of await linksTo('a.txt', DIGITS)) {
      const get = await rawHeaders(url, 'GET');
      const head = await rawHeaders(url, 'HEAD');
      for (const headers of [get, head]) {
        delete headers['date'];
        delete headers['x-request-id'];
      }
      expect(head).toEqual(get);
      expect(head['content-length']).toBe('10');
    }
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('is not for %s', async (method) => {
    for (const url of await linksTo('a.txt', DIGITS)) {
      const response = await fetch(url, { method });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('GET, HEAD');
    }
  });

  it('ends with its time', async () => {
    const urls = await linksTo('a.txt', DIGITS);
    clock.advance(HOUR_MS - 1);
    for (const url of urls) expect((await fetch(url)).status).toBe(200);
    clock.advance(1);
    for (const url of urls) expect(await answerOf(url)).toEqual(NOT_FOUND);
  });

  it('ends when its file is replaced or deleted', async () => {
    const replaced = await linksTo('a.txt', 'old');
    const version = await disk.addFile('a.txt', 'new');
    for (const url of replaced) expect(await answerOf(url)).toEqual(NOT_FOUND);
    const deleted = [await disk.addLink('a.txt', version), signedLink('a.txt', version)];
    for (const url of deleted) expect(await (await fetch(url)).text()).toBe('new');
    await disk.write((store) => store.files.delete('a.txt'));
    for (const url of deleted) expect(await answerOf(url)).toEqual(NOT_FOUND);
  });

  it('is a failure, and costs no transfer, when the bytes are gone though the row is there', async () => {
    const urls = await linksTo('a.txt', DIGITS);
    rmSync(join(gateway.folder, 'projects', gateway.projectId, 'blobs'), { recursive: true });
    for (const url of urls) {
      expect((await answerOf(url)).status).toBe(500);
      expect((await fetch(url, { method: 'HEAD' })).status).toBe(500);
    }
    expect(await disk.read((store) => store.disk.transferred('2026-01'))).toBe(0);
  });
});

describe('a public link', () => {
  it('ends when its key is revoked', async () => {
    const keyId = await createKey({});
    const version = await disk.addFile('a.txt', DIGITS);
    const url = await disk.addLink('a.txt', version, { keyId });
    const other = await disk.addLink('a.txt', version);
    expect((await fetch(url)).status).toBe(200);
    expect((await gateway.call('DELETE', `/v1/keys/${keyId}`)).status).toBe(200);
    expect(await answerOf(url)).toEqual(NOT_FOUND);
    expect((await fetch(other)).status).toBe(200);
    // Its row is gone as well.
    expect(await disk.read((store) => store.fileLinks.nextExpiry())).toBe(clock.now() + HOUR_MS);
    await disk.write((store) => store.fileLinks.revokePath('a.txt'));
    expect(await answerOf(other)).toEqual(NOT_FOUND);
  });

  it('does not hold for a key that was revoked before', async () => {
    const keyId = await createKey({});
    const version = await disk.addFile('a.txt', DIGITS);
    await disk.write((store) => store.keys.revoke(keyId, new Date(clock.now()).toISOString()));
    expect(await answerOf(await disk.addLink('a.txt', version, { keyId }))).toEqual(NOT_FOUND);
    expect(await answerOf(await disk.addLink('a.txt', version, { keyId: 'key_unknown' }))).toEqual(
      NOT_FOUND,
    );
  });

  it('ends when its key expires', async () => {
    const keyId = await createKey({ expires_at: new Date(clock.now() + 60_000).toISOString() });
    const version = await disk.addFile('a.txt', DIGITS);
    const url = await disk.addLink('a.txt', version, { keyId });
    clock.advance(59_999);
    expect((await fetch(url)).status).toBe(200);
    clock.advance(1);
    expect(await answerOf(url)).toEqual(NOT_FOUND);
  });

  it('has a token that cannot be guessed at', async () => {
    const version = await disk.addFile('a.txt', DIGITS);
    const url = await disk.addLink('a.txt', version);
    expect(await answerOf(`${url}A`)).toEqual(NOT_FOUND);
    expect(await answerOf(url.slice(0, -1))).toEqual(NOT_FOUND);
    expect(await answerOf(`${gateway.url}/f/${'0'.repeat(40)}`)).toEqual(NOT_FOUND);
  });
});

describe('a signed link', () => {
  it('may not be changed in any part', async () => {
    await disk.addFile('other.txt', 'other');
    const version = await disk.addFile('a.txt', DIGITS);
    const url = signedLink('a.txt', version);
    const [project = '', path = '', , expires = '', signature = ''] = new URL(url).pathname
      .split('/')
      .slice(2);
    const other = Buffer.from('other.txt').toString('base64url');
    const others = [
      [project, other, '1', expires, signature],
      [project, path, '1', expires, signature],
      [project, `${path}=`, String(version), expires, signature],
      [project, path, `0${version}`, expires, signature],
      [project, path, `${version}.0`, expires, signature],
      [project, path, String(version), String(Number(expires) + 1), signature],
      [project, path, String(version), `${expires}0`, signature],
      [project, path, String(version), 'never', signature],
      [project, path, String(version), expires, signature.slice(0, -1)],
      [project, path, String(version), expires, changed(signature)],
      [project, path, String(version), expires, 'x'],
      ['0'.repeat(16), path, String(version), expires, signature],
      ['not-a-project', path, String(version), expires, signature],
      [project.toUpperCase(), path, String(version), expires, signature],
    ];
    for (const parts of others)
      expect(await answerOf(`${gateway.url}/d/${parts.join('/')}`)).toEqual(NOT_FOUND);
    expect((await fetch(url)).status).toBe(200);
  });

  it('is signed for files alone, and for one project', async () => {
    const version = await disk.addFile('a.txt', DIGITS);
    const expiresAt = clock.now() + HOUR_MS;
    const file = { path: 'a.txt', version };
    const encoded = Buffer.from('a.txt').toString('base64url');
    const texts = [
      fileLinkText(gateway.projectId, file, termsUntil(expiresAt)).replace('|file|', '|payload|'),
      fileLinkText('prj_0000000000000000', file, termsUntil(expiresAt)),
    ];
    for (const text of texts) {
      const signature = `${holder}.${vault().sign(text)}`;
      const body = projectBody(gateway.projectId);
      const url = `${gateway.url}/d/${body}/${encoded}/${version}/${expiresAt}/${signature}`;
      expect(await answerOf(url)).toEqual(NOT_FOUND);
    }
  });

  it('to a project that is not there is not found', async () => {
    const expiresAt = clock.now() + HOUR_MS;
    const projectId = 'prj_0000000000000000';
    const signed = vault().sign(
      fileLinkText(projectId, { path: 'a.txt', version: 1 }, termsUntil(expiresAt)),
    );
    expect(
      await answerOf(
        `${gateway.url}/d/0000000000000000/YS50eHQ/1/${expiresAt}/${holder}.${signed}`,
      ),
    ).toEqual(NOT_FOUND);
  });
});

describe('a range', () => {
  it('gives that part of the file', async () => {
    for (const url of await linksTo('a.txt', DIGITS)) {
      expect(await ask(url, { range: 'bytes=2-4' })).toEqual({
        status: 206,
        range: 'bytes 2-4/10',
        length: '3',
        type: 'text/plain',
        text: '234',
      });
      expect(await ask(url, { range: 'bytes=7-' })).toMatchObject({ status: 206, text: '789' });
      expect(await ask(url, { range: 'bytes=-1' })).toMatchObject({ status: 206, text: '9' });
      expect(await ask(url, { range: 'bytes=0-99' })).toMatchObject({
        status: 206,
        range: 'bytes 0-9/10',
        text: DIGITS,
      });
    }
  });

  it('beyond the end says how long the file is', async () => {
    for (const url of await linksTo('a.txt', DIGITS)) {
      const answer = await ask(url, { range: 'bytes=10-' });
      expect(answer).toMatchObject({ status: 416, range: 'bytes */10', type: 'application/json' });
      expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'VALIDATION_FAILED' } });
    }
  });

  it('is not kept to where there are several, and not for HEAD', async () => {
    for (const url of await linksTo('a.txt', DIGITS)) {
      const whole = { status: 200, range: null, text: DIGITS };
      expect(await ask(url, { range: 'bytes=0-1,4-5' })).toMatchObject(whole);
      expect(await ask(url, { range: 'lines=0-1' })).toMatchObject(whole);
      expect(await ask(url, { range: 'bytes=0-1' }, 'HEAD')).toMatchObject({
        status: 200,
        range: null,
        length: '10',
      });
    }
  });

  it('holds for the version it was begun with', async () => {
    for (const url of await linksTo('a.txt', DIGITS)) {
      const etag = (await fetch(url)).headers.get('etag') ?? '';
      const range = 'bytes=2-4';
      expect(await ask(url, { range, 'if-range': etag })).toMatchObject({ status: 206 });
      for (const other of ['"999"', `W/${etag}`, 'Fri, 02 Jan 2026 03:04:05 GMT', etag.slice(1)]) {
        expect(await ask(url, { range, 'if-range': other })).toMatchObject({ status: 200 });
      }
    }
  });
});
