import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../helpers/gateway.ts';
import { decide } from './deciding.ts';
import { promisedBy, type Input } from './promised.ts';
import { World, type Answer } from './scenario.ts';

// Answers of the disk that no example leads to: nothing there, versions, uploads, links.

let gateway: TestGateway;
let world: World;

beforeAll(async () => {
  gateway = await TestGateway.start();
  world = new World(gateway);
});
afterAll(() => gateway.stop());

function promised(name: string, input: Input, headers?: Record<string, string>): Promise<Answer> {
  return promisedBy(world, name, input, headers);
}

describe('nothing there', () => {
  it.each([
    ['kv_get', { key: 'nobody/wrote/this' }],
    ['state_load', { task_id: 'nobody-saved-this' }],
  ])('%s answers null, without an ETag', async (name, input) => {
    const { status, body, headers } = await promised(name, input);
    expect([status, body]).toEqual([200, null]);
    expect(headers.get('etag')).toBeNull();
  });

  it.each([
    ['kv_delete', { key: 'nobody/wrote/this' }],
    ['file_delete', { path: 'nobody/wrote/this' }],
  ])('%s says that it deleted none', async (name, input) => {
    expect((await promised(name, input)).body).toEqual({ deleted: false });
  });
});

describe('JSON of any kind', () => {
  it.each([
    [null],
    [false],
    [0],
    [''],
    ['text'],
    [[]],
    [[1, null]],
    [{}],
    [{ key: 'a', value: 1 }],
  ])('%j comes back as it was', async (value) => {
    await promised('kv_set', { key: 'any', value });
    expect((await promised('kv_get', { key: 'any' })).body).toMatchObject({ value });
    await promised('state_save', { task_id: 'any', state: value });
    expect((await promised('state_load', { task_id: 'any' })).body).toMatchObject({
      state: value,
    });
  });
});

describe('names of any kind', () => {
  const odd = [
    'a%b',
    'a%2Fb',
    'a?b#c',
    'a b+c',
    '%2e%2e',
    'ü/😀',
    '"a"',
    '\\a',
    '__proto__',
    // Line separators of Unicode, which a pattern may stop at.
    'a\u2028b\u2029c',
  ];

  it.each([...odd, ' ', 'a//b', '/a', 'a/'])('the key %j reaches its value', async (key) => {
    await promised('kv_set', { key, value: key });
    expect((await promised('kv_get', { key })).body).toMatchObject({ key, value: key });
    const { items } = (await promised('kv_list', { prefix: key })).body;
    expect(items).toContainEqual(expect.objectContaining({ key }));
    expect((await promised('kv_delete', { key })).body).toEqual({ deleted: true });
  });

  it.each(odd)('the path %j reaches its file', async (path) => {
    const content_base64 = Buffer.from(path).toString('base64');
    await promised('file_put', { path, content_base64 });
    const ref = `disk://${path}`;
    for (const name of [path, ref]) {
      expect((await promised('file_get', { path: name })).body).toMatchObject({
        path,
        ref,
        content_base64,
      });
    }
    expect((await promised('file_delete', { path: ref })).body).toEqual({ deleted: true });
  });
});

const VERSIONED = [
  ['kv_set', { key: 'counter', value: 1 }, 'kv_get', { key: 'counter' }],
  ['state_save', { task_id: 'task', state: 1 }, 'state_load', { task_id: 'task' }],
  ['file_put', { path: 'a.txt', content_base64: 'aGk=' }, 'file_get', { path: 'a.txt' }],
] as const;

describe.each(VERSIONED)('the version of %s', (write, written, read, named) => {
  it('is the ETag of what wrote it and of what reads it', async () => {
    const first = await promised(write, written, { 'if-none-match': '*' });
    const etag = `"${String(first.body['version'])}"`;
    expect(first.headers.get('etag')).toBe(etag);
    const again = await promised(read, named);
    expect(again.headers.get('etag')).toBe(etag);
    const unchanged = await promised(read, named, { 'if-none-match': etag });
    expect([unchanged.status, unchanged.body]).toEqual([304, undefined]);
    expect(unchanged.headers.get('etag')).toBe(etag);
  });

  it('guards against what another wrote meanwhile', async () => {
    const { body } = await promised(read, named);
    const version = Number(body['version']);
    const refused = { status: 412, body: { error: { code: 'PRECONDITION_FAILED' } } };
    expect(await promised(write, written, { 'if-none-match': '*' })).toMatchObject(refused);
    expect(await promised(write, { ...written, if_version: version + 1 })).toMatchObject({
      ...refused,
      body: { error: { details: { version } } },
    });
    const next = await promised(write, written, { 'if-match': `"${version}"` });
    expect(next.status).toBe(200);
    expect(next.body['version']).toBeGreaterThan(version);
    expect(await promised(write, written, { 'if-match': `"${version}"` })).toMatchObject(refused);
  });
});

describe('a file', () => {
  const path = 'large.bin';
  const bytes = new Uint8Array(3_000_000).fill(7);

  it('comes by an upload in three steps, and goes by a link', async () => {
    const upload = { size: bytes.length, content_type: 'application/x-seven' };
    const opened = await promised('file_put', { path, upload });
    expect(opened.body).toMatchObject({ status: 'uploading' });
    expect(opened.headers.get('etag')).toBeNull();
    const { upload_id, upload_url, upload_headers } = opened.body;
    const sent = await fetch(String(upload_url), {
      method: 'PUT',
      headers: upload_headers as Record<string, string>,
      body: bytes,
    });
    expect([sent.status, await sent.json()]).toMatchObject([200, { size_bytes: bytes.length }]);
    const done = await promised('file_put', { path, complete: upload_id });
    expect(done.body).toMatchObject({ path, size_bytes: bytes.length });
    expect(done.headers.get('etag')).toBe(`"${String(done.body['version'])}"`);

    const { body } = await promised('file_get', { path });
    expect(body).not.toHaveProperty('content_base64');
    expect(body).toMatchObject({ content_type: 'application/x-seven' });
    const fetched = await fetch(String(body['download_url']));
    expect([fetched.status, fetched.headers.get('content-type')]).toEqual([
      200,
      'application/x-seven',
    ]);
    expect(Buffer.from(await fetched.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it('is public by a link that a person allowed, once', async () => {
    const input = { path, expires_in: 60, wait_seconds: 0 };
    const asked = await promised('file_url', input);
    expect(asked.body).toMatchObject({ status: 'pending', comment: null });
    const { request_id } = asked.body;
    const approval = String(request_id);
    const again = await promised('file_url', { ...input, approval });
    expect(again.body).toEqual(asked.body);
    await decide(gateway, world, approval, { verb: 'approve' });
    const { body } = await promised('file_url', { ...input, approval });
    const { url, link_id } = body;
    expect(link_id).toMatch(/^lnk_[0-9a-z]{26}$/);
    expect((await fetch(String(url))).status).toBe(200);
    expect(await promised('file_url', { ...input, approval })).toMatchObject({
      status: 409,
      body: { error: { code: 'APPROVAL_NOT_APPLICABLE' } },
    });
  });

  it('stays private where a person said no', async () => {
    const input = { path, expires_in: 61, wait_seconds: 0 };
    const { request_id } = (await promised('file_url', input)).body;
    const approval = String(request_id);
    await decide(gateway, world, approval, { verb: 'deny' });
    const { body } = await promised('file_url', { ...input, approval });
    expect(body).toEqual({ status: 'denied', request_id, comment: null });
  });
});
