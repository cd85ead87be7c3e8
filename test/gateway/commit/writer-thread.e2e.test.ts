import { hash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Effect } from '../../../gateway/commit/context/job.ts';
import { ThreadWriters } from '../../../gateway/commit/thread/thread.ts';
import type { Delivery, StoredAnswer } from '../../../gateway/commit/commands/inbox/delivery.ts';
import { ServiceError } from '../../../shared/lib/errors.ts';
import { ProjectReader } from '../../../shared/store/project-store.ts';
import { withRawDatabase } from '../../helpers/database.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

const entry = pathToFileURL('dist/writer.js');

const info = { id: 'prj_0000000000000000', slug: 'one', name: 'One' };
const urls = { api: 'http://x', mcp: 'http://x/mcp', hooks: 'http://x' };
const server = {
  version: '0',
  urls,
  channels: [],
  telegramBot: null,
  mail: { domain: null, from: null },
};
const caller = {
  projectId: info.id,
  keyId: 'key_a',
  scopes: ['admin'],
  diskPrefixes: null,
  agent: { label: null, platform: 'unknown', source: 'none' },
  requestId: 'req_1',
  idempotencyKey: null,
} as const;
const masterKey = randomBytes(32);

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
let fatal: unknown[];
let effects: Effect[];
let writers: ThreadWriters;
let ledgerKey: Uint8Array;

const KEY = `INSERT INTO key (id, name, hash, last4, scopes, created_at, created_by)
  VALUES ('key_a', 'A', '00', 'aaaa', '["admin"]', '2026-01-01T00:00:00.000Z', 'test')`;

async function open(): Promise<void> {
  writers = new ThreadWriters({ masterKey, server, onFatal: (e) => fatal.push(e) }, entry);
  ledgerKey = await writers.open({ info, location: { kind: 'file', path } }, (some) =>
    effects.push(...some),
  );
}

beforeEach(async () => {
  folder = temporaryFolder();
  path = join(folder.path, 'project.db');
  fatal = [];
  effects = [];
  await open();
  withRawDatabase(path, (raw) => raw.exec(KEY));
});
afterEach(async () => {
  await writers.close();
  folder.remove();
});

function delivery(number: number, change: Partial<Delivery> = {}): Delivery {
  const body = Buffer.from(JSON.stringify({ number }));
  return {
    sourceId: 'src_a',
    sourceStamp: null,
    source: 'hooks',
    proof: 'signature',
    now: Date.now(),
    sizeBytes: body.length,
    body,
    blob: null,
    hash: hash('sha256', body, 'buffer'),
    kind: 'json',
    type: 'test',
    providerId: `delivery-${number}`,
    contentType: 'application/json',
    headers: '{}',
    digest: '00',
    ...change,
  };
}

const call = (name: string, input: unknown) =>
  writers.run(info.id, 'operation', {
    name,
    input,
    prepared: undefined,
    caller,
    now: Date.now(),
    inputDigest: 'd',
    askedDigest: 'd',
    mayBeRepeat: false,
  });

function lastCommitted(): Effect | undefined {
  return effects.findLast(({ kind }) => kind === 'committed');
}

async function stored(): Promise<{ events: number; entries: number }> {
  return withRawDatabase(path, (raw) => ({
    events: Number(raw.get('SELECT count(*) AS n FROM event')?.['n']),
    entries: Number(raw.get('SELECT count(*) AS n FROM ledger')?.['n']),
  }));
}

function idOf(answer: StoredAnswer | { readonly status: 'outdated' }): string {
  if (answer.status === 'limited' || answer.status === 'outdated') throw new Error(answer.status);
  return answer.event_id;
}

describe('the thread that writes', () => {
  it('answers each of many at once with its own, after they can be read', async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) => writers.run(info.id, 'delivery', delivery(n))),
    );
    expect(new Set(answers.map(idOf)).size).toBe(200);
    const reader = await ProjectReader.open({ kind: 'file', path }, info.id);
    const found = await reader.read((store) =>
      store.events.findWhole(answers[7] ? idOf(answers[7]) : '', Date.now()),
    );
    await reader.close();
    expect(Buffer.from(found?.body ?? []).toString()).toBe('{"number":7}');
    expect(await stored()).toEqual({ events: 200, entries: 200 });
  });

  it('tells of a burst once for each kind of event, before it answers', async () => {
    const seen: number[] = [];
    const types = ['a', 'a', 'a', 'b', 'b'];
    await Promise.all(
      types.map(async (type, n) => {
        await writers.run(info.id, 'delivery', delivery(n, { type }));
        seen.push(effects.length);
      }),
    );
    const events = effects.filter(({ kind }) => kind === 'event_ready');
    expect(events.length).toBeLessThan(types.length);
    expect(new Set(effects)).toContainEqual({ kind: 'event_ready', source: 'hooks', type: 'b' });
    expect(Math.min(...seen)).toBeGreaterThan(0);
  });

  it('tells how far the project has come: at first, and with each transaction before all else', async () => {
    const kinds = (): string[] => effects.map(({ kind }) => kind);
    expect(effects.at(-1)).toEqual({ kind: 'committed', replication: { position: 1, log: null } });
    effects = [];
    await writers.run(info.id, 'delivery', delivery(1));
    expect(kinds()).toEqual(['committed', 'event_ready']);
    await call('source_remove', { name: 'none' });
    expect(kinds()).toEqual(['committed', 'event_ready', 'committed']);
    expect(effects.at(-1)).toMatchObject({ replication: { position: 3 } });
    await writers.closeProject(info.id);
    effects = [];
    await writers.open({ info, location: { kind: 'file', path } }, (some) => effects.push(...some));
    expect(effects).toEqual([{ kind: 'committed', replication: { position: 3, log: null } }]);
  });

  it('keeps the log for whoever follows it, and tells where it stands', async () => {
    await expect(writers.copyBase(info.id)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    const { log } = await writers.follow(info.id);
    expect(log).toMatchObject({ generation: 1, frames: 0, salts: null });
    expect(lastCommitted()).toMatchObject({ replication: { log } });
    await writers.run(info.id, 'delivery', delivery(1));
    expect(lastCommitted()).toMatchObject({
      replication: {
        position: 2,
        log: { generation: 1, salts: expect.stringMatching(/^[0-9a-f]{16}$/) },
      },
    });
    await writers.rotate(info.id);
    const place = { epoch: log?.epoch, generation: 2, frames: 0, salts: null };
    expect(lastCommitted()).toEqual({
      kind: 'committed',
      replication: { position: 2, log: place },
    });
    const copy = await writers.copyBase(info.id);
    expect(copy).toMatchObject({ epoch: log?.epoch, generation: 2 });
    expect(withRawDatabase(copy.path, (raw) => raw.get('SELECT count(*) AS n FROM event'))).toEqual(
      {
        n: 1,
      },
    );
  });

  it('carries refusals across as what they are, and records them', async () => {
    const outcome = await call('source_remove', { name: 'none' });
    expect(outcome).toMatchObject({ refused: { service: { code: 'NOT_FOUND' } } });
    expect(await stored()).toMatchObject({ entries: 1 });
  });

  it('carries errors across with their codes', async () => {
    await expect(call('no_such', {})).rejects.toThrow('No operation no_such writes.');
    const invalid = call('source_add', {
      type: 'email',
      name: 'mail',
      verification: 'none',
    });
    await expect(invalid).rejects.toBeInstanceOf(ServiceError);
    await expect(invalid).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
      details: { fields: [{ path: 'type' }] },
    });
    expect(await stored()).toMatchObject({ entries: 0 });
  });

  it('keeps the key of the digests, and what it wrote, over a restart', async () => {
    const before = Buffer.from(ledgerKey);
    await writers.run(info.id, 'delivery', delivery(1));
    await writers.closeProject(info.id);
    await writers.close();
    await open();
    expect(Buffer.from(ledgerKey)).toEqual(before);
    const again = await writers.run(info.id, 'delivery', delivery(1));
    expect(again.status).toBe('duplicate');
  });

  it('says why a database cannot be opened', async () => {
    const newer = join(folder.path, 'newer.db');
    withRawDatabase(newer, (raw) => raw.exec('PRAGMA user_version=999'));
    const opened = writers.open({ info, location: { kind: 'file', path: newer } }, () => undefined);
    await expect(opened).rejects.toThrow(/newer than/);
    expect(fatal).toEqual([]);
  });

  it('leaves no caller waiting when it is ended', async () => {
    const pending = Array.from({ length: 20 }, (_, n) =>
      writers.run(info.id, 'delivery', delivery(n)),
    );
    await writers.close();
    const settled = await Promise.allSettled(pending);
    const refused = settled.filter((one) => one.status === 'rejected');
    const codes = refused.map(({ reason }) => (reason as ServiceError).code);
    expect(codes).toEqual(refused.map(() => 'UNAVAILABLE'));
    await expect(writers.run(info.id, 'delivery', delivery(99))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect(fatal).toEqual([]);
  });

  it('leaves no caller waiting when it dies, and says so once', async () => {
    const dying = join(folder.path, 'dying.mjs');
    writeFileSync(
      dying,
      `import { parentPort } from 'node:worker_threads';
       parentPort.on('message', () => { throw new Error('died'); });`,
    );
    const doomed = new ThreadWriters(
      { masterKey, server, onFatal: (error) => fatal.push(error) },
      pathToFileURL(dying),
    );
    const opened = doomed.open({ info, location: { kind: 'file', path } }, () => undefined);
    await expect(opened).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await doomed.close();
    expect(fatal).toEqual([expect.objectContaining({ message: 'died' })]);
  });
});
