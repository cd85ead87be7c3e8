import { join } from 'node:path';
import { existsSync } from 'node:fs';
import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { maintain } from '../../../gateway/projects/maintenance.ts';
import type { Project } from '../../../gateway/projects/project.ts';
import { caller, type Call } from '../../helpers/calls.ts';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { writerOf } from '../../helpers/writers.ts';
import { recounted } from './recounted.ts';

const LIMIT = 1_073_741_824;
const KEYS = 10_000;
const QUARTER = 15 * 60_000;

let clock: FakeClock;
let gateway: TestGateway;
let admin: string;
let call: Call;
let project: Project;
let projects = 0;
beforeAll(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock });
});
beforeEach(() => freshDisk());
afterAll(() => gateway.stop());

/** A project of its own: an empty disk costs less than a new gateway. */
async function freshDisk(): Promise<void> {
  projects += 1;
  const made = await gateway.gateway.createProject({ name: 'Test', slug: `quota-${projects}` });
  admin = made.apiKey;
  ({ call } = await caller(gateway, admin));
  const found = await gateway.gateway.projects.find(made.project.id);
  if (!found) throw new Error('no project');
  project = found;
}

/** Leaves room for so many bytes, as files would that fill the rest. */
const leaveRoom = (bytes: number): Promise<void> =>
  writerOf(project).write(async ({ disk }) => {
    const { keyBytes, fileBytes, uploadBytes } = await disk.use();
    await disk.add('file_bytes', LIMIT - bytes - keyBytes - fileBytes - uploadBytes);
  });

/** Keys of one byte each. */
const fillKeys = (count: number, expiresAt: number | null = null): Promise<void> =>
  writerOf(project).write(async ({ kv, disk }) => {
    for (let index = 0; index < count; index += 1) {
      await kv.put({
        key: `k${index}`,
        size_bytes: 1,
        version: await disk.nextVersion(),
        expires_at: expiresAt,
        updated_at: '2026-01-01T00:00:00.000Z',
        note: null,
        value: Buffer.from('1'),
      });
    }
    await disk.add('keys', count);
    await disk.add('key_bytes', count);
  });

const base64 = (bytes: number, fill = 'x'): string => Buffer.alloc(bytes, fill).toString('base64');

/** A value whose JSON has so many bytes. */
const value = (bytes: number): string => 'x'.repeat(bytes - 2);

const set = async (key: string, bytes: number, rest: Record<string, unknown> = {}) =>
  (await call('kv_set', { key, value: value(bytes), ...rest })).code;

const put = async (path: string, bytes: number) =>
  (await call('file_put', { path, content_base64: base64(bytes) })).code;

const open = async (path: string, size: number) =>
  (await call('file_put', { path, upload: { size } })).code;

const usage = async () =>
  (await call('usage', {})).value as Record<'disk' | 'keys', Record<string, number>>;

const folder = (): string => join(gateway.folder, 'projects', project.info.id);

const recount = () => recounted(join(folder(), 'project.db'));

const blobPath = (digest: string): string => join(folder(), 'blobs', digest.slice(0, 2), digest);

const FULL = { error: { code: 'QUOTA_EXCEEDED' } };

describe('10,000 keys', () => {
  it('are the most, and whatever makes no more of them goes on', async () => {
    await fillKeys(KEYS - 1);
    expect(await set('last', 3)).toBe('ok');
    const more = await gateway.call('PUT', '/v1/kv/more', { key: admin, body: 1 });
    expect(more).toMatchObject({ status: 409, body: FULL });
    expect(more.body['error']).toMatchObject({
      details: { kind: 'keys', limit: KEYS, used: KEYS },
    });
    const state = await gateway.call('PUT', '/v1/state/t', { key: admin, body: { state: 1 } });
    expect(state).toMatchObject({ status: 409, body: FULL });
    expect(await set('last', 100)).toBe('ok');
    expect(await put('a', 10)).toBe('ok');
    expect((await usage()).keys).toEqual({ used: KEYS, limit: KEYS });
    await call('kv_delete', { key: 'k0' });
    expect(await set('more', 3)).toBe('ok');
    expect(await set('again', 3)).toBe('QUOTA_EXCEEDED');
  });

  it('make room in the millisecond they expire, swept or not', async () => {
    await fillKeys(KEYS, clock.now() + 1000);
    clock.advance(999);
    expect(await set('a', 3)).toBe('QUOTA_EXCEEDED');
    clock.advance(1);
    expect(await set('a', 3)).toBe('ok');
    expect(await set('k7', 3)).toBe('ok');
    const { counted, sums } = recount();
    expect(sums).toEqual(counted);
  });

  it('hold under many writers: no more get in than there is room for', async () => {
    await fillKeys(KEYS - 7);
    const codes = await Promise.all(Array.from({ length: 20 }, (_, index) => set(`p${index}`, 3)));
    expect(codes.filter((code) => code === 'ok')).toHaveLength(7);
    expect(codes.filter((code) => code === 'QUOTA_EXCEEDED')).toHaveLength(13);
    const { counted, sums } = recount();
    expect(sums).toEqual(counted);
    expect(sums).toMatchObject({ keys: KEYS });
  });
});

describe('1 GB', () => {
  it('is the most, to the byte, for values, files and uploads together', async () => {
    await leaveRoom(100);
    expect(await set('a', 101)).toBe('QUOTA_EXCEEDED');
    expect(await set('a', 40)).toBe('ok');
    expect(await put('a', 61)).toBe('QUOTA_EXCEEDED');
    expect(await put('a', 30)).toBe('ok');
    expect(await open('b', 31)).toBe('QUOTA_EXCEEDED');
    expect(await open('b', 30)).toBe('ok');
    const full = await gateway.call('PUT', '/v1/kv/b', { key: admin, body: 1 });
    expect(full).toMatchObject({ status: 409, body: FULL });
    expect(full.body['error']).toMatchObject({
      details: { kind: 'bytes', limit: LIMIT, used: LIMIT },
    });
    expect((await usage()).disk).toEqual({
      used_bytes: LIMIT,
      limit_bytes: LIMIT,
      key_bytes: 40,
      file_bytes: LIMIT - 70,
      upload_bytes: 30,
    });
    expect(await put('empty', 0)).toBe('ok');
    expect(await open('empty', 0)).toBe('ok');
  });

  it('is no hindrance to what shrinks, also when more than that is held', async () => {
    for (const name of ['a', 'b']) {
      expect(await set(name, 50)).toBe('ok');
      expect(await put(name, 50)).toBe('ok');
    }
    await leaveRoom(-1000);
    expect([await set('a', 51), await put('a', 51)]).toEqual(['QUOTA_EXCEEDED', 'QUOTA_EXCEEDED']);
    expect([await set('a', 50), await put('a', 50)]).toEqual(['ok', 'ok']);
    expect([await set('a', 49), await put('a', 0)]).toEqual(['ok', 'ok']);
    expect((await call('kv_delete', { key: 'b' })).value).toEqual({ deleted: true });
    expect((await call('file_delete', { path: 'b' })).value).toEqual({ deleted: true });
    expect((await usage()).disk['used_bytes']).toBe(LIMIT + 1000 - 1 - 50 - 50 - 50);
  });

  it('holds under many writers of all kinds: the sum is what got in', async () => {
    await leaveRoom(1000);
    const codes = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 3 === 0 ? set : index % 3 === 1 ? put : open)(`p${index}`, 90),
      ),
    );
    expect(codes.filter((code) => code === 'ok')).toHaveLength(11);
    expect(codes.filter((code) => code === 'QUOTA_EXCEEDED')).toHaveLength(9);
    expect((await usage()).disk['used_bytes']).toBe(LIMIT - 10);
  });

  it.each([
    ['a value', 'keys', set],
    ['a file', 'keys', put],
    ['an upload', 'keys', open],
    ['a value', 'uploads', set],
    ['a file', 'uploads', put],
    ['an upload', 'uploads', open],
  ])('has room for %s where %s have expired', async (_what, expired, write) => {
    for (const name of ['a', 'b']) {
      const old = expired === 'keys' ? set(name, 100, { ttl_seconds: 900 }) : open(name, 100);
      expect(await old).toBe('ok');
    }
    await leaveRoom(0);
    clock.advance(QUARTER - 1);
    expect(await write('new', 150)).toBe('QUOTA_EXCEEDED');
    clock.advance(1);
    expect(await write('new', 201)).toBe('QUOTA_EXCEEDED');
    expect(await write('new', 200)).toBe('ok');
    expect((await usage()).disk['used_bytes']).toBe(LIMIT);
    const { value: ledger } = await call('ledger_query', { op: 'upload.expired' });
    expect(ledger['items']).toHaveLength(expired === 'keys' ? 0 : 2);
  });

  it('has room for a file in what its own path held for uploads', async () => {
    expect(await open('a', 100)).toBe('ok');
    await leaveRoom(0);
    expect(await put('b', 100)).toBe('QUOTA_EXCEEDED');
    expect(await put('a', 101)).toBe('QUOTA_EXCEEDED');
    expect((await usage()).disk['upload_bytes']).toBe(100);
    expect(await put('a', 100)).toBe('ok');
    expect((await usage()).disk).toMatchObject({ upload_bytes: 0, used_bytes: LIMIT });
  });
});

interface Step {
  readonly does: keyof typeof STEPS;
  readonly name: string;
  readonly size: number;
  readonly ttl: number | undefined;
  readonly sent: boolean;
}

type Act = (model: DiskModel, step: Omit<Step, 'does'>) => Promise<string[]>;

/** The disk as the interface describes it, written down without the code under test. */
class DiskModel {
  readonly keys = new Map<string, { size: number; until: number }>();
  readonly files = new Map<string, number>();
  uploads: { id: string; path: string; size: number; until: number; sent: boolean }[] = [];
  readonly #room: number;

  constructor(room: number) {
    this.#room = room;
  }

  pass(now: number): void {
    for (const [key, { until }] of this.keys) if (until <= now) this.keys.delete(key);
    this.uploads = this.uploads.filter(({ until }) => until > now);
  }

  has(bytes: number): boolean {
    const sizes = [...this.keys.values(), ...this.uploads].map(({ size }) => size);
    return (
      [...sizes, ...this.files.values()].reduce((sum, size) => sum + size, bytes) <= this.#room
    );
  }

  set(key: string, size: number, until: number): string {
    const old = this.keys.get(key);
    this.keys.delete(key);
    const fits = this.has(size);
    if (fits) this.keys.set(key, { size, until });
    else if (old) this.keys.set(key, old);
    return fits ? 'ok' : 'QUOTA_EXCEEDED';
  }

  put(path: string, size: number): string {
    const [old, { uploads }] = [this.files.get(path), this];
    this.remove(path);
    const fits = this.has(size);
    if (!fits) this.uploads = uploads;
    const now = fits ? size : old;
    if (now !== undefined) this.files.set(path, now);
    return fits ? 'ok' : 'QUOTA_EXCEEDED';
  }

  remove(path: string): void {
    this.files.delete(path);
    this.uploads = this.uploads.filter((one) => one.path !== path);
  }

  mayOpen(path: string, size: number): string {
    if (this.uploads.filter((one) => one.path === path).length >= 3) return 'UPLOAD_LIMIT';
    return this.has(size) ? 'ok' : 'QUOTA_EXCEEDED';
  }
}

/** What may be done, to the gateway and to the model; what each said. */
const STEPS = {
  async set(model, { name, size, ttl }) {
    const until = ttl === undefined ? Infinity : clock.now() + ttl * 1000;
    return [await set(name, size, { ttl_seconds: ttl }), model.set(name, size, until)];
  },
  async state(model, { name, size }) {
    const { code } = await call('state_save', { task_id: name, state: value(size) });
    return [code, model.set(`state/${name}`, size, Infinity)];
  },
  async delete(model, { name }) {
    const answer = await call('kv_delete', { key: name });
    return [String(answer.value['deleted']), String(model.keys.delete(name))];
  },
  async put(model, { name, size }) {
    return [await put(name, size), model.put(name, size)];
  },
  async remove(model, { name }) {
    const isThere = model.files.has(name);
    model.remove(name);
    const { value: answer } = await call('file_delete', { path: name });
    return [String(answer['deleted']), String(isThere)];
  },
  async open(model, { name, size, sent }) {
    const expected = model.mayOpen(name, size);
    const { code, value: opened } = await call('file_put', { path: name, upload: { size } });
    if (code !== 'ok') return [code, expected];
    const id = String(opened['upload_id']);
    model.uploads.push({ id, path: name, size, until: clock.now() + QUARTER, sent });
    if (sent) await send(opened, size);
    return [code, expected];
  },
  async complete(model, { size }) {
    const upload = model.uploads[size % Math.max(1, model.uploads.length)];
    if (!upload) return [];
    const { code } = await call('file_put', { path: upload.path, complete: upload.id });
    return [code, upload.sent ? model.put(upload.path, upload.size) : 'UPLOAD_INCOMPLETE'];
  },
  async time(_model, { size }) {
    clock.advance(size * 9_000);
    return [];
  },
  async maintenance() {
    await maintain(project, clock);
    return [];
  },
} satisfies Record<string, Act>;

async function send(opened: Record<string, unknown>, size: number): Promise<void> {
  const response = await fetch(String(opened['upload_url']), {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    body: new Uint8Array(size),
  });
  if (!response.ok) throw new Error(await response.text());
}

describe('the sums of the disk', () => {
  const step = fc.record<Step>({
    does: fc.constantFrom(
      ...(Object.keys(STEPS) as Step['does'][]),
      'set',
      'put',
      'open',
      'complete',
    ),
    name: fc.constantFrom('a', 'b', 'c'),
    size: fc.integer({ min: 2, max: 60 }),
    ttl: fc.option(fc.integer({ min: 1, max: 900 }), { nil: undefined }),
    sent: fc.boolean(),
  });

  it('are those of the tables after any sequence of writes, and refuse what a model does', async () => {
    const seen = new Set<string | undefined>();
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 10, maxLength: 40, size: 'max' }),
      fc.integer({ min: 60, max: 400 }),
      async (steps, room) => {
        await freshDisk();
        await leaveRoom(room);
        const model = new DiskModel(room);
        for (const one of steps) {
          model.pass(clock.now());
          const act: Act = STEPS[one.does];
          const [said, expected] = await act(model, one);
          expect([one, said]).toEqual([one, expected]);
          seen.add(said);
          const { counted, sums, blobs } = recount();
          sums['file_bytes'] = Number(sums['file_bytes']) - (LIMIT - room);
          expect(sums).toEqual(counted);
          expect(blobs.filter(({ refs, named }) => refs !== named)).toEqual([]);
          expect(blobs.filter(({ digest }) => !existsSync(blobPath(digest)))).toEqual([]);
        }
      },
    );
    await fc.assert(property, { numRuns: 12 });
    // A run in which the disk was never full would prove little.
    expect(seen).toContain('QUOTA_EXCEEDED');
    expect(seen).toContain('UPLOAD_INCOMPLETE');
  });
});
