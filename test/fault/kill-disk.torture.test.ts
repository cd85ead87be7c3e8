import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { keyOf, svc, svcUp } from '../helpers/daemon.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

const ROUNDS = 12;
/** One that fits into a call, and one that needs an upload. */
const SIZES = { small: 700_000, large: 3_000_000 } as const;
type Name = keyof typeof SIZES;
const UPLOAD_TYPE = 'application/vnd.service.upload+json';
const PLAIN_TYPE = 'application/octet-stream';

const folder = temporaryFolder();
afterAll(async () => {
  await svc(folder.path, ['down']).catch(() => undefined);
  folder.remove();
});

let base = '';
let key = '';

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function put(path: string, body: Uint8Array<ArrayBuffer> | string, type: string) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': type };
  const url = path.startsWith('http') ? path : `${base}/v1/${path}`;
  const response = await fetch(url, { method: 'PUT', headers, body }).catch(() => null);
  if (!response?.ok) return null;
  return (await response.json().catch(() => null)) as Record<string, unknown> | null;
}

/** Saves a file in the way its size asks for; true when that was acknowledged. */
async function save(name: Name, bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
  if (name === 'small') return (await put(`files/${name}`, bytes, PLAIN_TYPE)) !== null;
  const wanted = { upload: { size: bytes.length, content_type: PLAIN_TYPE } };
  const opened = await put(`files/${name}`, JSON.stringify(wanted), UPLOAD_TYPE);
  if (!opened || !(await put(String(opened['upload_url']), bytes, PLAIN_TYPE))) return false;
  const complete = JSON.stringify({ complete: opened['upload_id'] });
  return (await put(`files/${name}`, complete, UPLOAD_TYPE)) !== null;
}

/** The digest of the bytes that a reader gets. */
async function read(name: Name): Promise<string> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${base}/v1/files/${name}`, { headers });
  const file = (await response.json()) as Record<string, string>;
  const { content_base64: inline, download_url: link } = file;
  const bytes =
    inline === undefined
      ? new Uint8Array(await (await fetch(link ?? '')).arrayBuffer())
      : Buffer.from(inline, 'base64');
  expect(bytes.length).toBe(SIZES[name]);
  expect(file['sha256']).toBe(sha256(bytes));
  return sha256(bytes);
}

/** The contents each path may have: the last acknowledged one, and any sent after it without an answer. */
const may: Record<Name, Set<string>> = { small: new Set(), large: new Set() };
let counter = { acknowledged: -1, sent: -1 };

async function work(name: Name, alive: () => boolean): Promise<void> {
  while (alive()) {
    const bytes = new Uint8Array(randomBytes(SIZES[name]));
    const digest = sha256(bytes);
    may[name].add(digest);
    if (!(await save(name, bytes))) return;
    may[name] = new Set([digest]);
  }
}

async function count(alive: () => boolean): Promise<void> {
  while (alive()) {
    counter = { ...counter, sent: counter.sent + 1 };
    if (!(await put('kv/counter', String(counter.sent), 'application/json'))) return;
    counter = { ...counter, acknowledged: counter.sent };
  }
}

/** Every blob file matches the digest in its name. */
function checkBlobs(project: string): void {
  const root = join(folder.path, 'data', 'projects', project, 'blobs');
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name),
  );
  for (const { name, parentPath } of files) {
    expect(sha256(readFileSync(join(parentPath, name)))).toBe(name);
  }
}

describe('kill -9 while files are saved', () => {
  it(`leaves the old file or the new one, whole, ${ROUNDS} times`, async () => {
    let { base_url, pid, project } = await svcUp(folder.path);
    base = base_url;
    key = await keyOf(folder.path);
    for (const name of ['small', 'large'] as const) {
      const bytes = new Uint8Array(randomBytes(SIZES[name]));
      expect(await save(name, bytes)).toBe(true);
      may[name].add(sha256(bytes));
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      let running = true;
      const alive = (): boolean => running;
      const workers = [work('small', alive), work('large', alive), count(alive)];
      await sleep(50 + Math.random() * 400);
      process.kill(pid, 'SIGKILL');
      await Promise.all(workers);
      running = false;
      ({ base_url, pid, project } = await svcUp(folder.path));
      base = base_url;
      for (const name of ['small', 'large'] as const) {
        const digest = await read(name);
        expect(may[name]).toContain(digest);
        may[name] = new Set([digest]);
      }
      const headers = { authorization: `Bearer ${key}` };
      const stored = await (await fetch(`${base}/v1/kv/counter`, { headers })).json();
      const { value } = (stored ?? { value: -1 }) as { value: number };
      expect([counter.acknowledged, counter.sent]).toContain(value);
      counter = { acknowledged: value, sent: value };
      checkBlobs(project);
    }
    const verified = JSON.parse(await svc(folder.path, ['ledger', 'verify', '--json'])) as object;
    expect(verified).toMatchObject({ ok: true });
  });
});
