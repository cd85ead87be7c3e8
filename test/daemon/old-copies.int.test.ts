import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Daemon } from '../../daemon/daemon.ts';
import { resolveHome, type Home } from '../../daemon/home.ts';
import { removeOldCopies } from '../../daemon/old-copies.ts';
import { replicaPath } from '../../daemon/replica-paths.ts';
import { ReplicaFolder } from '../../daemon/replica/sync/replica-folder.ts';
import { takeLock } from '../../shared/store/engine/lock.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { collectingLog } from './replica/open-replica.ts';
import { cloningWriters } from '../helpers/writers.ts';

const NOW = Date.UTC(2026, 5, 15);
const DAY_MS = 24 * 3_600_000;

let folder: ReturnType<typeof temporaryFolder>;
let home: Home;

beforeEach(() => {
  folder = temporaryFolder();
  home = resolveHome({ SVC_HOME: folder.path });
});

afterEach(() => folder.remove());

function storeKeysOf(...projects: string[]): void {
  const gateway = 'https://svc.example';
  const profiles = Object.fromEntries(
    projects.map((project) => [project, { gateway, api_key: 'svc_live_x', project }]),
  );
  writeFileSync(home.credentialsFile, JSON.stringify({ profiles, current: 'default' }));
}

/** A copy of this project, whose gateway was heard of so many days ago. */
function copyOf(project: string, days: number): ReplicaFolder {
  const copy = new ReplicaFolder(replicaPath(home, project));
  for (const name of ['replica.db', 'replica.db-wal', 'witness.json']) {
    writeFileSync(join(copy.path, name), 'x');
  }
  copy.writeSyncedTo({ generation: 1, frames: 0 });
  copy.writeRecord({
    gateway: 'https://svc.example',
    epoch: 'abc',
    position: 7,
    completeAt: null,
    contactAt: NOW - days * DAY_MS,
    aheadMs: 0,
    info: {
      project: { id: project, slug: 'a', name: 'A' },
      server: {
        version: '1.0.0',
        urls: { api: 'a', mcp: 'b', hooks: 'c' },
        channels: [],
        telegramBot: null,
        mail: { domain: null, from: null },
      },
      schemaVersion: 3,
    },
  });
  return copy;
}

/** What was logged, by project. */
function sweep(): Record<string, unknown> {
  const { log, lines } = collectingLog();
  removeOldCopies(home, NOW, log);
  return Object.fromEntries(lines.map(({ project, reason, msg }) => [project, reason ?? msg]));
}

describe('at the start of a daemon', () => {
  it('copies go that were not brought up to date for a week, or have no key any more', () => {
    storeKeysOf('prj_old', 'prj_new', 'prj_bare');
    const [old, recent, foreign] = [
      copyOf('prj_old', 8),
      copyOf('prj_new', 6),
      copyOf('prj_gone', 0),
    ];
    const bare = new ReplicaFolder(replicaPath(home, 'prj_bare'));
    expect(sweep()).toEqual({
      prj_old: "It hasn't been updated for a week.",
      prj_gone: 'This machine has no key for its project.',
    });
    for (const { path } of [old, foreign]) {
      expect(readdirSync(path).filter((name) => name.startsWith('replica'))).toEqual([]);
      // What was seen of the ledger stays.
      expect(readdirSync(path)).toContain('witness.json');
    }
    expect(recent.hasCopy()).toBe(true);
    expect(bare.hasTraces()).toBe(false);
    expect(sweep()).toEqual({});
  });

  it('what is left of a copy without a key goes as well', () => {
    const copy = new ReplicaFolder(replicaPath(home, 'prj_gone'));
    writeFileSync(copy.downloadPath, 'x');
    expect(Object.keys(sweep())).toEqual(['prj_gone']);
    expect(copy.hasTraces()).toBe(false);
  });

  it('a copy that cannot be removed is told of, and keeps nobody from starting', () => {
    const copy = copyOf('prj_gone', 8);
    mkdirSync(join(copy.downloadPath, 'in-the-way'), { recursive: true });
    expect(sweep()).toEqual({ prj_gone: "replica: can't remove an old replica" });
  });

  it('a copy that somebody holds stays', () => {
    const copy = copyOf('prj_gone', 8);
    const lock = takeLock(copy.lockPath);
    expect(sweep()).toEqual({});
    expect(copy.hasCopy()).toBe(true);
    lock?.release();
    expect(Object.keys(sweep())).toEqual(['prj_gone']);
  });

  it('there may be none at all', () => {
    expect(sweep()).toEqual({});
  });

  it('that is what a daemon does, in local mode too', async () => {
    const copy = copyOf('prj_gone', 0);
    const daemon = await Daemon.start({
      home,
      env: {},
      port: 0,
      ratePerMinute: 0,
      openWriters: cloningWriters,
      createLog: () => pino({ level: 'silent' }),
      onEnd: () => undefined,
    });
    expect(daemon.record.mode).toBe('local');
    await daemon.stop();
    expect(copy.hasTraces()).toBe(false);
  });
});
