import { hash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { caller, type Call } from '../../../helpers/calls.ts';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';

interface File {
  readonly path: string;
  readonly ref: string;
  readonly size_bytes: number;
  readonly content_type: string;
  readonly updated_at: string;
  readonly sha256: string;
  readonly version: number;
  readonly content_base64: string;
}

type Bytes = Uint8Array<ArrayBuffer>;

const MIB = 1024 * 1024;
const START = Date.UTC(2026, 0, 2, 3, 4, 5);
const UPLOAD_TYPE = 'application/vnd.service.upload+json';
const soon = { timeout: 60_000 } as const;

let clock: FakeClock;
let gateway: TestGateway;
let call: Call;
beforeEach(async () => {
  clock = new FakeClock(START);
  gateway = await TestGateway.start({ clock });
  ({ call } = await caller(gateway, gateway.apiKey));
});
afterEach(() => gateway.stop());

const text = (content: string): Bytes => new Uint8Array(Buffer.from(content));
const base64 = (content: string | Uint8Array): string => Buffer.from(content).toString('base64');

async function put(path: string, body: Bytes, headers: Record<string, string> = {}) {
  const response = await fetch(`${gateway.url}/v1/files/${path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${gateway.apiKey}`, ...headers },
    body,
  });
  const answer = (await response.json()) as File;
  return { status: response.status, headers: response.headers, body: answer };
}

const get = (path: string) => gateway.call<File>('GET', `/v1/files/${path}`);

const remove = (path: string, headers: Record<string, string> = {}) =>
  gateway.call('DELETE', `/v1/files/${path}`, { headers });

/** Fields instead of bytes, in the same PUT. */
const putFields = (path: string, body: unknown) =>
  gateway.call('PUT', `/v1/files/${path}`, { body, headers: { 'content-type': UPLOAD_TYPE } });

async function bytesOf(path: string): Promise<string> {
  const { body } = await get(path);
  return Buffer.from(body.content_base64, 'base64').toString('latin1');
}

function blobFiles(): string[] {
  const folder = join(gateway.folder, 'projects', gateway.projectId, 'blobs');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((part) => readdirSync(join(folder, part)));
}

const refused = (status: number, code: string, details?: unknown) => ({
  status,
  body: { error: { code, ...(details !== undefined && { details }) } },
});

const names = (path: string) => ({ fields: [{ path }] });

describe('a small file', () => {
  it('comes back with its bytes and its type', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, value) => value);
    const type = { 'content-type': 'Image/PNG; x="y"' };
    const saved = await put('a/b.png', bytes, type);
    const view = {
      path: 'a/b.png',
      ref: 'disk://a/b.png',
      size_bytes: 256,
      content_type: 'Image/PNG; x="y"',
      updated_at: new Date(START).toISOString(),
      sha256: hash('sha256', bytes),
      version: 1,
    };
    expect(saved).toMatchObject({ status: 200, body: view });
    expect(Object.keys(saved.body).toSorted()).toEqual(Object.keys(view).toSorted());
    expect(saved.headers.get('etag')).toBe('"1"');
    const read = await get('a/b.png');
    expect(read.body).toEqual({ ...view, content_base64: base64(bytes) });
    expect(read.headers.get('etag')).toBe('"1"');
  });

  it('has a type where none is given', async () => {
    expect((await put('a', text('x'))).body).toMatchObject({
      content_type: 'application/octet-stream',
    });
    const { value } = await call('file_put', { path: 'b', content_base64: base64('x') });
    expect(value).toMatchObject({ content_type: 'application/octet-stream' });
  });

  it('may be empty', async () => {
    expect((await put('a', text(''))).body).toMatchObject({ size_bytes: 0, version: 1 });
    expect((await get('a')).body).toMatchObject({ size_bytes: 0, content_base64: '' });
    expect((await call('file_put', { path: 'b', content_base64: '' })).code).toBe('ok');
    await remove('a');
    expect(await bytesOf('b')).toBe('');
  });

  it('is replaced, and the bytes before it go', async () => {
    await put('a', text('one'), { 'content-type': 'text/plain' });
    clock.advance(7);
    const second = await put('a', text('second'));
    expect(second.body).toMatchObject({
      version: 2,
      size_bytes: 6,
      content_type: 'application/octet-stream',
      updated_at: new Date(START + 7).toISOString(),
    });
    expect(await bytesOf('a')).toBe('second');
    await vi.waitFor(() => expect(blobFiles()).toEqual([hash('sha256', 'second')]), soon);
  });

  it('is deleted, once, and its bytes soon after', async () => {
    await put('a', text('x'));
    expect(blobFiles()).toHaveLength(1);
    expect((await remove('a')).body).toEqual({ deleted: true });
    expect((await remove('a')).body).toEqual({ deleted: false });
    expect(await get('a')).toMatchObject(refused(404, 'NOT_FOUND'));
    await vi.waitFor(() => expect(blobFiles()).toEqual([]), soon);
    const again = await put('a', text('x'));
    expect(again.body).toMatchObject({ version: 2 });
    expect(await bytesOf('a')).toBe('x');
  });

  it('with the content of another has no bytes of its own', async () => {
    for (const path of ['a', 'b', 'c']) await put(path, text('same'));
    expect(blobFiles()).toHaveLength(1);
    await put('a', text('same'));
    await remove('b');
    await put('c', text('other'));
    expect(await bytesOf('a')).toBe('same');
    expect(blobFiles()).toHaveLength(2);
    await remove('a');
    await vi.waitFor(() => expect(blobFiles()).toEqual([hash('sha256', 'other')]), soon);
  });

  it('is whole while it is replaced all the time', async () => {
    const contents = Array.from({ length: 8 }, (_, index) => `${index}`.repeat(1000));
    await put('a', text(contents[0] ?? ''));
    const writes = contents.flatMap((content) => [
      put('a', text(content)),
      put('a', text(content)),
    ]);
    const reads = await Promise.all([
      ...Array.from({ length: 40 }, () => bytesOf('a')),
      ...writes.map((write) => write.then(() => bytesOf('a'))),
    ]);
    expect(reads.filter((read) => !contents.includes(read))).toEqual([]);
    await expect.poll(blobFiles).toHaveLength(1);
    await remove('a');
    await expect.poll(blobFiles).toEqual([]);
  });

  it('that is refused leaves no bytes behind', async () => {
    await put('a', text('kept'));
    const none = { 'if-none-match': '*' };
    expect(await put('a', text('refused'), none)).toMatchObject({ status: 412 });
    await expect.poll(blobFiles).toHaveLength(1);
  });

  it('that is replaced between its row and its bytes is read anew', async () => {
    const project = await gateway.gateway.projects.find(gateway.projectId);
    if (!project) throw new Error('no project');
    const gone = Object.assign(new Error('gone'), { code: 'ENOENT' });
    const after = (change: () => Promise<unknown>) =>
      vi.spyOn(project.blobs, 'read').mockImplementationOnce(async () => {
        await change();
        throw gone;
      });
    await put('a', text('old'));
    after(() => put('a', text('new')));
    expect(await get('a')).toMatchObject({ status: 200, body: { version: 2, size_bytes: 3 } });
    expect(await bytesOf('a')).toBe('new');
    after(() => remove('a'));
    expect(await get('a')).toMatchObject(refused(404, 'NOT_FOUND'));
    await put('a', text('new'));
    after(() => Promise.resolve());
    expect(await get('a')).toMatchObject(refused(500, 'INTERNAL'));
  });
});

describe('the version of a file', () => {
  it('is what a write may ask for, in headers and as a field', async () => {
    const none = { 'if-none-match': '*' };
    expect((await put('a', text('1'), none)).body).toMatchObject({ version: 1 });
    expect(await put('a', text('2'), none)).toMatchObject(
      refused(412, 'PRECONDITION_FAILED', {
        version: 1,
        size_bytes: 1,
        updated_at: new Date(START).toISOString(),
      }),
    );
    expect((await put('a', text('3'), { 'if-match': '"1"' })).body).toMatchObject({ version: 2 });
    const fields = { content_base64: base64('4'), if_version: 1 };
    const stale = await putFields('a', fields);
    expect(stale).toMatchObject(refused(412, 'PRECONDITION_FAILED', { version: 2 }));
    expect(await bytesOf('a')).toBe('3');
    await remove('a');
    const gone = await put('a', text('5'), { 'if-match': '"2"' });
    expect(gone).toMatchObject(refused(412, 'PRECONDITION_FAILED', { version: 0 }));
    expect((await put('a', text('6'), none)).body).toMatchObject({ version: 3 });
  });

  it('may be any, but one: If-Match: * and if_exists change only what is there', async () => {
    const any = { 'if-match': '*' };
    const gone = refused(412, 'PRECONDITION_FAILED', { version: 0 });
    expect(await put('a', text('1'), any)).toMatchObject(gone);
    expect(await remove('a', any)).toMatchObject(gone);
    await put('a', text('1'));
    expect((await put('a', text('2'), any)).body).toMatchObject({ version: 2 });
    const fields = { content_base64: base64('3'), if_exists: true };
    expect(await putFields('b', fields)).toMatchObject(gone);
    const upload = await putFields('a', { upload: { size: 1 }, if_exists: true });
    expect(upload).toMatchObject(refused(400, 'VALIDATION_FAILED', names('if_exists')));
    expect((await remove('a', any)).body).toEqual({ deleted: true });
  });

  it('keeps a newer file from a delete of an older one', async () => {
    await put('a', text('1'));
    await put('a', text('two'));
    const newer = refused(412, 'PRECONDITION_FAILED', { version: 2, size_bytes: 3 });
    expect(await remove('a', { 'if-match': '"1"' })).toMatchObject(newer);
    expect(await remove('a?if_version=1')).toMatchObject(newer);
    expect(await bytesOf('a')).toBe('two');
    expect((await remove('a', { 'if-match': '"2"' })).body).toEqual({ deleted: true });
    const gone = refused(412, 'PRECONDITION_FAILED', { version: 0 });
    expect(await remove('a', { 'if-match': '"2"' })).toMatchObject(gone);
  });

  it('has one winner among many', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        put('a', text(`${index}`), { 'if-none-match': '*' }),
      ),
    );
    const won = answers.flatMap(({ status }, index) => (status === 200 ? [`${index}`] : []));
    expect(won).toEqual([await bytesOf('a')]);
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(19);
  });
});

describe('the content of a small file', () => {
  it('is 1 MB at most', async () => {
    const exact = new Uint8Array(MIB).fill(7);
    expect((await put('a', exact)).body).toMatchObject({ size_bytes: MIB });
    expect((await get('a')).body.content_base64).toBe(base64(exact));
    const more = new Uint8Array(MIB + 1);
    expect(await put('b', more)).toMatchObject(refused(413, 'PAYLOAD_TOO_LARGE'));
    for (const [size, code] of [
      [MIB, 'ok'],
      [MIB + 1, 'PAYLOAD_TOO_LARGE'],
      [MIB + 3, 'PAYLOAD_TOO_LARGE'],
    ] as const) {
      const input = { path: 'c', content_base64: base64(new Uint8Array(size)) };
      expect((await call('file_put', input)).code).toBe(code);
    }
    expect(await get('b')).toMatchObject(refused(404, 'NOT_FOUND'));
  });

  it.each([
    'eA',
    'eA=',
    'eA===',
    'eHg',
    ' eA==',
    'eA==\n',
    'eH h4',
    'eA==eA==',
    '=eA=',
    'eB==',
    '_-__',
    '-_8=',
    'data:text/plain;base64,eA==',
    'é===',
    '====',
    'e\0==',
  ])('is standard base64 with its padding: %j is not', async (content_base64) => {
    const bad = refused(400, 'VALIDATION_FAILED', names('content_base64'));
    expect(await putFields('a', { content_base64 })).toMatchObject(bad);
    expect(await get('a')).toMatchObject(refused(404, 'NOT_FOUND'));
  });

  it.each([[7], [null], [[]], [{ bytes: 'eA==' }], [{ 0: 120, length: 1 }]])(
    'is text: %j is not',
    async (content_base64) => {
      const bad = refused(400, 'VALIDATION_FAILED', names('content_base64'));
      expect(await putFields('a', { content_base64 })).toMatchObject(bad);
    },
  );

  it.each([
    [{}, 'content_base64'],
    [{ content_base64: 'eA==', upload: { size: 1 } }, 'upload'],
    [{ content_base64: 'eA==', complete: `upl_${'0'.repeat(26)}` }, 'complete'],
    [{ upload: { size: 1 }, complete: `upl_${'0'.repeat(26)}` }, 'complete'],
    [{ upload: { size: 1 }, content_type: 'text/plain' }, 'content_type'],
    [{ content_base64: 'eA==', content_type: '' }, 'content_type'],
    [{ content_base64: 'eA==', content_type: 'a\r\nb: c' }, 'content_type'],
    [{ content_base64: 'eA==', content_type: 'é' }, 'content_type'],
    [{ content_base64: 'eA==', content_type: 'x'.repeat(256) }, 'content_type'],
    [{ complete: 'upl_1' }, 'complete'],
    [{ upload: { size: -1 } }, 'upload.size'],
    [{ upload: { size: 1.5 } }, 'upload.size'],
    [{ upload: { size: 100 * MIB + 1 } }, 'upload.size'],
    [{ upload: {} }, 'upload.size'],
    [{ upload: { size: 1, sha256: 'x' } }, 'upload.sha256'],
    [{ upload: { size: 1 }, if_version: 1 }, 'if_version'],
    [{ content_base64: 'eA==', if_version: -1 }, 'if_version'],
  ])('comes in one way: %j is refused', async (fields, path) => {
    const answer = await putFields('a', fields);
    expect(answer).toMatchObject(refused(400, 'VALIDATION_FAILED', names(path)));
  });

  it('leaves nothing behind when it is refused', async () => {
    await put('a', text('kept'));
    expect(await put('evt_1/a', text('reserved'))).toMatchObject(refused(400, 'PATH_RESERVED'));
    expect(await put('a//b', text('invalid'))).toMatchObject(refused(400, 'VALIDATION_FAILED'));
    expect(blobFiles()).toEqual([hash('sha256', 'kept')]);
  });
});

describe('an Idempotency-Key on a PUT of bytes', () => {
  it('gives the same answer, and one version', async () => {
    const once = { 'idempotency-key': 'once', 'content-type': 'text/plain' };
    const first = await put('a', text('one'), once);
    clock.advance(1000);
    expect((await put('a', text('one'), once)).body).toEqual(first.body);
    const other = await put('a', text('two'), once);
    expect(other).toMatchObject(refused(400, 'VALIDATION_FAILED', names('Idempotency-Key')));
    expect((await get('a')).body).toMatchObject({ version: 1, sha256: hash('sha256', 'one') });
    // The same file, said otherwise.
    const fields = { content_base64: base64('one'), content_type: 'text/plain' };
    const same = await gateway.call('PUT', '/v1/files/a', {
      body: fields,
      headers: { 'idempotency-key': 'once', 'content-type': UPLOAD_TYPE },
    });
    expect(same.body).toEqual(first.body);
  });
});

describe('the ledger', () => {
  it('has one entry of every write of a file, none of a read, and nothing of the content', async () => {
    await put('a', text('secret words'));
    await get('a');
    await gateway.call('GET', '/v1/files');
    await put('evt_1', text('x'));
    await remove('a');
    const path = '/v1/ledger?limit=500';
    const { body } = await gateway.call<{ items: Record<string, unknown>[] }>('GET', path);
    expect(body.items.map(({ op, subject, code }) => [op, subject, code])).toEqual([
      ['file_delete', 'a', null],
      ['file_put', 'evt_1', 'PATH_RESERVED'],
      ['file_put', 'a', null],
      ['key.created', expect.stringMatching(/^key_/), null],
      ['channel.owner_set', expect.stringMatching(/^chn_/), null],
    ]);
    const told = JSON.stringify(body);
    const digests = [text('secret words'), base64('secret words')].flatMap((form) => [
      hash('sha256', form),
      hash('sha256', form, 'base64'),
      hash('sha256', form, 'base64url'),
    ]);
    for (const content of ['words', ...digests]) expect(told).not.toContain(content);
  });
});

describe('two projects', () => {
  it('have each their own files and bytes', async () => {
    const { apiKey: key } = await gateway.gateway.createProject({ name: 'Second', slug: 'second' });
    await put('a', text('ours'));
    const nowhere = refused(404, 'NOT_FOUND');
    expect(await gateway.call('GET', '/v1/files/a', { key })).toMatchObject(nowhere);
    expect((await gateway.call('GET', '/v1/files', { key })).body).toMatchObject({ items: [] });
    expect((await gateway.call('DELETE', '/v1/files/a', { key })).body).toEqual({ deleted: false });
    const link = await gateway.call('POST', '/v1/file-urls', { key, body: { path: 'a' } });
    expect(link).toMatchObject(nowhere);
    expect(await bytesOf('a')).toBe('ours');
    const theirs = { path: 'a', content_base64: base64('ours') };
    const second = await caller(gateway, key);
    expect((await second.call('file_put', theirs)).value).toMatchObject({ version: 1 });
    await second.call('file_delete', { path: 'a' });
    expect(await bytesOf('a')).toBe('ours');
  });
});
