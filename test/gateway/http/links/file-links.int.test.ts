import { createHash, hash } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { withRawDatabase } from '../../../helpers/database.ts';
import { TestPeople } from '../../approvals/people.ts';

interface Opened {
  readonly upload_id: string;
  readonly upload_url: string;
  readonly upload_headers: Record<string, string>;
  readonly expires_at: string;
}

interface Large {
  readonly download_url: string;
  readonly expires_at: string;
}

interface Linked {
  readonly url?: string;
  readonly request_id: string;
}

type Bytes = Uint8Array<ArrayBuffer>;

const MIB = 1024 * 1024;
const MINUTE = 60_000;
const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 2, 3, 4, 5);
const UPLOAD_TYPE = 'application/vnd.service.upload+json';
const iso = (ms: number): string => new Date(ms).toISOString();

let clock: FakeClock;
let gateway: TestGateway;
beforeEach(async () => {
  clock = new FakeClock(START);
  gateway = await TestGateway.start({ clock });
});
afterEach(() => gateway.stop());

const putFields = <T>(path: string, body: unknown, headers: Record<string, string> = {}) =>
  gateway.call<T>('PUT', `/v1/files/${path}`, {
    body,
    headers: { 'content-type': UPLOAD_TYPE, ...headers },
  });

const save = (path: string, content: string) =>
  putFields<{ version: number }>(path, {
    content_base64: Buffer.from(content).toString('base64'),
  });

const open = (path: string, size: number, content_type = 'text/plain') =>
  putFields<Opened>(path, { upload: { size, content_type } });

const complete = (path: string, id: string) => putFields(path, { complete: id });

const get = (path: string) => gateway.call<Large>('GET', `/v1/files/${path}`);

const remove = (path: string) => gateway.call('DELETE', `/v1/files/${path}`);

const uploadBytes = async () => {
  const { body } = await gateway.call<{ disk: { upload_bytes: number } }>('GET', '/v1/usage');
  return body.disk.upload_bytes;
};

/** Sends the bytes as the answer asks; the client itself counts them. */
async function send({ upload_url, upload_headers }: Opened, body: Bytes): Promise<number> {
  const { 'Content-Length': _counted, ...headers } = upload_headers;
  const response = await fetch(upload_url, { method: 'PUT', headers, body });
  await response.text();
  return response.status;
}

/** A file through all steps of an upload. */
async function upload(path: string, body: Bytes) {
  const { body: opened } = await open(path, body.length);
  expect(await send(opened, body)).toBe(200);
  return complete(path, opened.upload_id);
}

/** Bytes that are not all the same. */
function bytes(size: number): Bytes {
  const filled = Buffer.alloc(size);
  for (let at = 0; at < size; at += 65_536) filled.write(`${at}`, at);
  return filled;
}

const refused = (status: number, code: string, details?: unknown) => ({
  status,
  body: { error: { code, ...(details !== undefined && { details }) } },
});

const NOT_FOUND = refused(404, 'NOT_FOUND');

describe('an upload', () => {
  it('becomes a file when it is completed, and leaves the old one until then', async () => {
    await save('a', 'old');
    const opened = await open('a', 5, 'text/csv');
    expect(opened).toMatchObject({ status: 200 });
    expect(opened.body).toEqual({
      status: 'uploading',
      upload_id: expect.stringMatching(/^upl_[0-9a-z]{26}$/),
      upload_url: expect.stringMatching(`^${gateway.url}/u/[0-9A-Za-z]{40}$`),
      upload_headers: { 'Content-Type': 'text/csv', 'Content-Length': '5' },
      expires_at: iso(START + 15 * MINUTE),
    });
    const id = opened.body.upload_id;
    const early = refused(409, 'UPLOAD_INCOMPLETE', { upload_id: id, size: 5 });
    expect(await complete('a', id)).toMatchObject(early);
    const body = new Uint8Array(Buffer.from('a,b,c'));
    expect(await send(opened.body, body)).toBe(200);
    expect((await get('a')).body).toMatchObject({ version: 1, content_base64: 'b2xk' });
    expect(await uploadBytes()).toBe(5);
    const done = await complete('a', id);
    expect(done.body).toMatchObject({
      path: 'a',
      version: 2,
      size_bytes: 5,
      content_type: 'text/csv',
      sha256: hash('sha256', body),
    });
    expect((await get('a')).body).toMatchObject({ content_base64: 'YSxiLGM=' });
    expect(await uploadBytes()).toBe(0);
    expect(await send(opened.body, body)).toBe(404);
  });

  it('carries many bytes there and back', async () => {
    const size = 5 * MIB;
    const sent = bytes(size);
    const saved = await upload('big', sent);
    const sha256 = hash('sha256', sent);
    expect(saved.body).toMatchObject({ size_bytes: size, sha256 });
    const { body } = await get('big');
    const response = await fetch(body.download_url);
    const received = createHash('sha256');
    for await (const chunk of response.body ?? []) received.update(chunk);
    expect(received.digest('hex')).toBe(sha256);
  });

  it('may be of nothing, and is of no attachment', async () => {
    expect((await upload('a', bytes(0))).body).toMatchObject({ size_bytes: 0, version: 1 });
    expect((await get('a')).body).toMatchObject({ content_base64: '' });
    expect(await open('evt_1/a', 1)).toMatchObject(refused(400, 'PATH_RESERVED'));
  });

  it('is one of three to its path', async () => {
    await open('a', 1);
    clock.advance(MINUTE);
    const second = await open('a', 1);
    await open('a', 1);
    const fourth = await open('a', 1);
    expect(fourth).toMatchObject(refused(429, 'UPLOAD_LIMIT', { used: 3, retry_after: 840 }));
    expect(fourth.headers.get('retry-after')).toBe('840');
    expect((await open('b', 1)).status).toBe(200);
    clock.advance(14 * MINUTE - 1);
    expect(await open('a', 1)).toMatchObject(refused(429, 'UPLOAD_LIMIT', { retry_after: 1 }));
    clock.advance(1);
    expect((await open('a', 1)).status).toBe(200);
    // One that is completed makes the others go.
    await send(second.body, bytes(1));
    expect((await complete('a', second.body.upload_id)).status).toBe(200);
    expect((await open('a', 1)).status).toBe(200);
  });

  it('is over after 15 minutes', async () => {
    const { body: opened } = await open('a', 1);
    clock.advance(15 * MINUTE - 1);
    expect(await send(opened, bytes(1))).toBe(200);
    clock.advance(1);
    expect(await complete('a', opened.upload_id)).toMatchObject(NOT_FOUND);
    expect(await send(opened, bytes(1))).toBe(404);
    expect(await get('a')).toMatchObject(NOT_FOUND);
  });

  it('belongs to its path and its project', async () => {
    const { body: opened } = await open('a', 1);
    await send(opened, bytes(1));
    expect(await complete('b', opened.upload_id)).toMatchObject(NOT_FOUND);
    expect(await complete('a', `upl_${'0'.repeat(26)}`)).toMatchObject(NOT_FOUND);
    const { apiKey } = await gateway.gateway.createProject({ name: 'Second', slug: 'second' });
    const theirs = await gateway.call('PUT', '/v1/files/a', {
      key: apiKey,
      body: { complete: opened.upload_id },
      headers: { 'content-type': UPLOAD_TYPE },
    });
    expect(theirs).toMatchObject(NOT_FOUND);
    expect((await complete('disk%3A%2F%2Fa', opened.upload_id)).status).toBe(200);
  });

  it.each([
    ['a write', () => save('a', 'new')],
    ['a delete', () => remove('a')],
    ['a delete of nothing', () => remove('a').then(() => remove('a'))],
  ])('is dropped by %s of its path', async (_what, change) => {
    await save('a', 'old');
    const [full, empty, other] = [await open('a', 3), await open('a', 4), await open('b', 5)];
    await send(full.body, bytes(3));
    expect(await uploadBytes()).toBe(12);
    await change();
    expect(await uploadBytes()).toBe(5);
    for (const { body } of [full, empty]) {
      expect(await complete('a', body.upload_id)).toMatchObject(NOT_FOUND);
      expect(await send(body, bytes(3))).toBe(404);
    }
    expect(await send(other.body, bytes(5))).toBe(200);
  });

  it('asks for the version when it is completed', async () => {
    const { body: opened } = await open('a', 1);
    await send(opened, bytes(1));
    const stale = await putFields('a', { complete: opened.upload_id, if_version: 1 });
    expect(stale).toMatchObject(refused(412, 'PRECONDITION_FAILED', { version: 0 }));
    const first = await putFields('a', { complete: opened.upload_id, if_version: 0 });
    expect(first.status).toBe(200);
  });
});

describe('a file over 1 MB', () => {
  it('comes as a link that needs no key, for 5 minutes', async () => {
    expect((await upload('exact', bytes(MIB))).status).toBe(200);
    expect(Object.keys((await get('exact')).body)).toContain('content_base64');
    const sent = bytes(MIB + 1);
    await upload('a/ü|b', sent);
    const { body } = await get('a/ü|b');
    expect(body).not.toHaveProperty('content_base64');
    expect(body.expires_at).toBe(iso(START + 5 * MINUTE));
    clock.advance(5 * MINUTE - 1);
    const response = await fetch(body.download_url);
    expect(response.headers.get('content-type')).toBe('text/plain');
    expect(hash('sha256', new Uint8Array(await response.arrayBuffer()))).toBe(hash('sha256', sent));
    clock.advance(1);
    expect((await fetch(body.download_url)).status).toBe(404);
  });

  it.each([
    ['replaced', () => save('a', 'new')],
    ['replaced by the same', () => upload('a', bytes(MIB + 1))],
    ['deleted', () => remove('a')],
  ])('loses its link when it is %s', async (_how, change) => {
    await upload('a', bytes(MIB + 1));
    const { body } = await get('a');
    expect((await fetch(body.download_url)).status).toBe(200);
    await change();
    expect((await fetch(body.download_url)).status).toBe(404);
    // The same bytes at the same path again are another version.
    await remove('a');
    await upload('a', bytes(MIB + 1));
    expect((await fetch(body.download_url)).status).toBe(404);
  });
});

const ask = (input: Record<string, unknown>, key = gateway.apiKey) =>
  gateway.call<Linked>('POST', '/v1/file-urls', { key, body: { wait_seconds: 0, ...input } });

const databaseFile = () => join(gateway.folder, 'projects', gateway.projectId, 'project.db');

/** What a person does, through the link of a mail. */
async function decide(id: string, verb: 'approve' | 'deny'): Promise<void> {
  const people = await TestPeople.of(gateway, clock);
  expect((await people.decide(id, { verb, comment: 'so be it' }))?.outcome).toBe('taken');
}

/** An approved request, and what redeems it. */
async function approved(expires_in = 3600) {
  const { body } = await ask({ path: 'a', expires_in });
  await decide(body.request_id, 'approve');
  return { path: 'a', expires_in, approval: body.request_id };
}

describe('a public link', () => {
  beforeEach(async () => {
    await save('a', 'public');
  });

  const NOT_APPLICABLE = refused(409, 'APPROVAL_NOT_APPLICABLE');

  it('waits for a person, in one request for the same', async () => {
    const first = await ask({ path: 'a' });
    const request_id = first.body.request_id;
    expect(first).toMatchObject({ status: 200 });
    expect(first.body).toEqual({ status: 'pending', request_id, comment: null });
    expect(request_id).toMatch(/^req_[0-9a-z]{26}$/);
    for (const same of [{ expires_in: 3600 }, { path: 'disk://a' }, { approval: request_id }]) {
      expect((await ask({ path: 'a', ...same })).body).toEqual(first.body);
    }
    await save('b', 'x');
    const other = await gateway.key('disk');
    const others = [
      await ask({ path: 'a', expires_in: 3601 }),
      await ask({ path: 'b' }),
      await ask({ path: 'a' }, other),
    ];
    const ids = [first, ...others].map(({ body }) => body.request_id);
    expect(new Set(ids).size).toBe(4);
    // What nobody decided ends after a day, and another may be made.
    clock.advance(DAY);
    const late = await ask({ path: 'a', approval: request_id });
    expect(late.body).toEqual({ status: 'expired', request_id, comment: null });
    expect(ids).not.toContain((await ask({ path: 'a' })).body.request_id);
  });

  it('is of a file that is there, for a minute to a week', async () => {
    expect(await ask({ path: 'none' })).toMatchObject(NOT_FOUND);
    expect(await ask({ path: 'evt_1/a' })).toMatchObject(NOT_FOUND);
    for (const [field, value] of [
      ['expires_in', 59],
      ['expires_in', 604_801],
      ['expires_in', 60.5],
      ['wait_seconds', 121],
      ['approval', 'req_1'],
    ] as const) {
      const bad = refused(400, 'VALIDATION_FAILED', { fields: [{ path: field }] });
      expect(await ask({ path: 'a', [field]: value })).toMatchObject(bad);
    }
  });

  it('is given once for an approval, within a day', async () => {
    const wanted = await approved(60);
    clock.advance(DAY - 1);
    const given = await ask(wanted);
    expect(given.body).toEqual({
      url: expect.stringMatching(`^${gateway.url}/f/[0-9A-Za-z]{40}$`),
      expires_at: iso(START + DAY - 1 + 60_000),
      link_id: expect.stringMatching(/^lnk_/),
    });
    expect(await ask(wanted)).toMatchObject(NOT_APPLICABLE);
    const url = given.body.url ?? '';
    clock.advance(59_999);
    expect(await (await fetch(url)).text()).toBe('public');
    clock.advance(1);
    expect((await fetch(url)).status).toBe(404);
    const second = await approved(61);
    clock.advance(DAY);
    expect(await ask(second)).toMatchObject(NOT_APPLICABLE);
  });

  it('is given to who asked, for what was asked, and no race gets it twice', async () => {
    const wanted = await approved();
    await save('b', 'x');
    const other = await gateway.key('disk');
    const nobody = `req_${'0'.repeat(26)}`;
    expect(await ask(wanted, other)).toMatchObject(NOT_APPLICABLE);
    for (const change of [{ path: 'b' }, { expires_in: 3601 }, { approval: nobody }]) {
      expect(await ask({ ...wanted, ...change })).toMatchObject(NOT_APPLICABLE);
    }
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(wanted)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('is not given for a request that was denied', async () => {
    const { request_id } = (await ask({ path: 'a' })).body;
    await decide(request_id, 'deny');
    const answer = await ask({ path: 'a', approval: request_id });
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual({ status: 'denied', request_id, comment: 'so be it' });
    expect((await ask({ path: 'a' })).body.request_id).not.toBe(request_id);
  });

  it.each([
    ['its file is replaced', () => save('a', 'public')],
    ['its file is deleted', () => remove('a')],
    ['its key is revoked', (keyId: string) => gateway.call('DELETE', `/v1/keys/${keyId}`)],
  ])('ends when %s', async (_when, end) => {
    const key = await gateway.key('disk');
    const me = await gateway.call<{ key: { id: string } }>('GET', '/v1/whoami', { key });
    const { body } = await ask({ path: 'a' }, key);
    await decide(body.request_id, 'approve');
    const given = await ask({ path: 'a', approval: body.request_id }, key);
    const url = given.body.url ?? '';
    expect((await fetch(url)).status).toBe(200);
    await end(me.body.key.id);
    expect((await fetch(url)).status).toBe(404);
    const links = withRawDatabase(databaseFile(), (one) => one.all('SELECT id FROM file_link'));
    expect(links).toEqual([]);
  });
});
