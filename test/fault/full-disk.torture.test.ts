import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyOf, runs, svc, svcUp } from '../helpers/daemon.ts';
import { filesUnder } from '../helpers/files.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { required } from '../helpers/require.ts';

/** All the daemon has is on one small disk: its data, its log, its outbox. */
const folder = temporaryFolder();
const home = folder.path;
const data = join(home, 'data');
const ballast = join(home, 'ballast');

function run(program: string, ...args: string[]): void {
  execFileSync(program, args, { stdio: 'ignore' });
}

function mounted(): boolean {
  try {
    run('mount', '-t', 'tmpfs', '-o', 'size=6m,mode=0700', 'tmpfs', home);
    return true;
  } catch {
    return false;
  }
}

const ready = required('the full disk', mounted(), 'a tmpfs cannot be mounted here (needs root)');

let base = '';
let key = '';
let pid = 0;
let hook = '';

beforeAll(async () => {
  if (!ready) return;
  // Without a reserve the disk fills up to its last page.
  const up = await svcUp(home, { SVC_DISK_RESERVE_MB: '0' });
  ({ base_url: base, pid } = up);
  key = await keyOf(home);
  const added = await call('POST', '/v1/sources', { type: 'webhook', name: 'open' });
  hook = String(added.body['url']);
});
afterAll(async () => {
  if (ready) {
    await svc(home, ['down']).catch(() => undefined);
    // A process that is just ending still has files open there.
    run('umount', '--lazy', home);
  }
  folder.remove();
});

async function call(method: string, path: string, body?: object) {
  const response = await fetch(base + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  return { status: response.status, headers: response.headers, body: answer };
}

async function deliver(name: string, body: string) {
  const response = await fetch(hook, { method: 'POST', body, headers: { 'webhook-id': name } });
  const answer = (await response.json()) as Record<string, unknown>;
  return { status: response.status, headers: response.headers, body: answer };
}

function fillDisk(): void {
  const { bavail, bsize } = statfsSync(home);
  writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail - 4) * bsize));
}

interface Line {
  readonly msg?: string;
  readonly lines?: number;
}

/** The whole lines of the log. The disk may have been full in the middle of one. */
function logged(): Line[] {
  const lines = readFileSync(join(home, 'daemon.log'), 'utf8').split('\n');
  return lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line) as Line);
}

const halfBlobs = (): string[] => filesUnder(data).filter((path) => path.endsWith('.tmp'));

/** Enough that their log lines don't fit into the rest of its last page. */
const REFUSED = 100;
const UNAVAILABLE = { error: { code: 'UNAVAILABLE' } };

describe.skipIf(!ready)('a full disk', () => {
  const taken = new Map<string, string>();
  const refused: string[] = [];

  it('refuses writes with 503 and Retry-After, keeps what it took, and does not end', async () => {
    fillDisk();
    for (let n = 0; n < 400 && refused.length < REFUSED; n += 1) {
      const name = `d${n}`;
      const answer = await deliver(name, `${name} ${'x'.repeat(20_000)}`);
      if (answer.status === 200) {
        taken.set(name, String(answer.body['event_id']));
        continue;
      }
      expect(answer.status).toBe(503);
      expect(answer.body).toMatchObject(UNAVAILABLE);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      refused.push(name);
    }
    expect(refused.length).toBe(REFUSED);
    expect(runs(pid)).toBe(true);
  });

  it('refuses calls that write with the same answer', async () => {
    const [event_id] = taken.values();
    const writes: [string, object][] = [
      ['/v1/keys', { name: 'k', scopes: ['inbox:read'] }],
      ['/v1/inbox/claim', { event_id: event_id ?? `evt_${'0'.repeat(26)}` }],
    ];
    for (const [path, body] of writes) {
      // What fits into the last pages may still go through: it must then be true.
      const answer = await call('POST', path, body);
      const { code } = (answer.body['error'] ?? {}) as { code?: string };
      const allowed = answer.status < 500 || (answer.status === 503 && code === 'UNAVAILABLE');
      expect({ path, code, allowed }).toEqual({ path, code, allowed: true });
    }
  });

  it('refuses large bodies and leaves no half of one', async () => {
    const before = filesUnder(data).length;
    for (let n = 0; n < 5; n += 1) {
      const answer = await deliver(`large${n}`, `${n}${'x'.repeat(1024 * 1024)}`);
      expect(answer).toMatchObject({ status: 503, body: UNAVAILABLE });
      expect(answer.headers.get('retry-after')).not.toBeNull();
    }
    expect(halfBlobs()).toEqual([]);
    expect(filesUnder(data).length).toBe(before);
  });

  it('goes on reading', async () => {
    expect((await call('GET', '/v1/whoami')).status).toBe(200);
    const list = await call('GET', '/v1/inbox?limit=100');
    expect(list.status).toBe(200);
    expect((await call('POST', '/v1/ledger/verify', {})).body).toMatchObject({ ok: true });
    expect((await call('GET', '/v1/inbox/wait?timeout_seconds=1')).status).toBe(200);
  });

  it('recovers by itself when there is room, having lost nothing', async () => {
    rmSync(ballast);
    for (const name of refused.slice(0, 20)) {
      const answer = await deliver(name, `${name} ${'x'.repeat(20_000)}`);
      expect(answer).toMatchObject({ status: 200, body: { status: 'accepted' } });
      taken.set(name, String(answer.body['event_id']));
    }
    const large = await deliver('large', 'y'.repeat(400 * 1024));
    expect(large).toMatchObject({ status: 200 });
    for (const [name, event_id] of taken) {
      const again = await deliver(name, 'whatever');
      expect(again.body).toEqual({ status: 'duplicate', event_id });
    }
    expect((await call('POST', '/v1/ledger/verify', {})).body).toMatchObject({ ok: true });
    expect(halfBlobs()).toEqual([]);
    expect(runs(pid)).toBe(true);
  });

  it('says once how many lines the log has lost', async () => {
    const once = [expect.objectContaining({ lines: expect.any(Number), code: 'ENOSPC' })];
    await expect.poll(() => logged().filter(({ lines }) => lines !== undefined)).toEqual(once);
  });

  it('ends cleanly while it is full, and starts again when it is not', async () => {
    fillDisk();
    await deliver('last', 'x'.repeat(200_000));
    const down = JSON.parse(await svc(home, ['down', '--json'])) as { stopped: boolean };
    expect(down.stopped).toBe(true);
    await expect.poll(() => runs(pid)).toBe(false);
    expect(logged().map(({ msg }) => msg)).not.toContain("didn't shut down cleanly");
    rmSync(ballast);
    const up = await svcUp(home);
    ({ base_url: base, pid } = up);
    const verified = await call('POST', '/v1/ledger/verify', {});
    expect(verified.body).toMatchObject({ ok: true });
    const list = await call('GET', '/v1/inbox?limit=100');
    const ids = (list.body['items'] as { id: string }[]).map(({ id }) => id);
    const missing = [...taken.values()].slice(0, 60).filter((id) => !ids.includes(id));
    expect(missing.length).toBeLessThanOrEqual(1);
  });
});
