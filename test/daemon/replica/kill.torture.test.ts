import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ReplicaFolder } from '../../../daemon/replica/sync/replica-folder.ts';
import type { Replica } from '../../../daemon/replica/replica.ts';
import { takeLock } from '../../../shared/store/engine/lock.ts';
import { withRawDatabase } from '../../helpers/database.ts';
import { runs } from '../../helpers/daemon.ts';
import { caughtUp, collectingLog, until, untilState } from './open-replica.ts';
import { Stage, valueOf } from './stage.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await Stage.open();
});

afterEach(() => stage.end());

/** Writes, and rotates now and then, from the first copy on until it is stopped. Answers the number of the last write. */
function writing(): { stop: () => Promise<number> } {
  const ending = new AbortController();
  let last = 0;
  const work = (async () => {
    // Not sooner: when a generation ends while its copy is asked for, the next one's is, and `stage.copies` counts both.
    await until(
      () => existsSync(stage.databasePath),
      (isThere) => isThere,
    );
    while (!ending.signal.aborted) {
      last += 1;
      await stage.write('n', last);
      if (last % 15 === 0) await stage.rotate();
    }
    return last;
  })();
  return {
    stop: () => {
      ending.abort();
      return work;
    },
  };
}

async function expectSame(replica: Replica, n: number): Promise<void> {
  const position = await stage.write('last', n);
  await caughtUp(replica, position);
  expect(await valueOf(replica, 'n')).toBe(String(n));
  const theirs = await stage.gateway.call<{ items: { seq: number; hash: string }[] }>(
    'GET',
    '/v1/ledger?limit=1',
    { key: stage.apiKey },
  );
  const [newest] = theirs.body.items;
  const ours = await replica.store?.read(({ ledger }) => ledger.head());
  expect(newest?.hash).toBe(ours?.hash);
  const [problem] = withRawDatabase(stage.databasePath, (connection) =>
    connection.all('PRAGMA integrity_check'),
  );
  expect(problem).toEqual({ integrity_check: 'ok' });
}

describe('the process that synchronizes', () => {
  it('may be killed at any time: another one goes on with the same copy', async () => {
    const { log, lines } = collectingLog();
    const replica = stage.replica({ log });
    await untilState(replica, 'live');
    const writes = writing();
    for (let kill = 0; kill < 20; kill += 1) {
      const pid = await until(
        () => replica.syncPid,
        (seen) => seen !== null && runs(seen),
      );
      await new Promise((wait) => setTimeout(wait, (kill * 37) % 190));
      if (pid !== null) process.kill(pid, 'SIGKILL');
      await until(
        () => replica.syncPid,
        (seen) => seen !== null && seen !== pid,
      );
      const { position } = replica.status;
      expect(await replica.reached((position ?? 0) + 1, 20_000)).toBe(true);
    }
    await expectSame(replica, await writes.stop());
    expect(stage.copies).toBe(1);
    expect(lines.filter(({ level }) => Number(level) >= 50)).toEqual([]);
    expect(replica.status.witness.ok).toBe(true);
  });

  it('that hangs is ended, and another one goes on', async () => {
    const replica = stage.replica({ timing: { syncSilenceMs: 300 } });
    await untilState(replica, 'live');
    const { syncPid } = replica;
    stage.door.trouble = (path) => (path.includes('/sync/') ? 'silence' : null);
    const position = await stage.write('a');
    await until(
      () => syncPid !== null && runs(syncPid),
      (isThere) => !isThere,
    );
    stage.door.trouble = () => null;
    await caughtUp(replica, position);
    expect(stage.copies).toBe(1);
  });

  it('ends with the replica', async () => {
    const replica = stage.replica();
    await untilState(replica, 'live');
    const { syncPid } = replica;
    await stage.close(replica);
    expect(syncPid !== null && runs(syncPid)).toBe(false);
  });
});

/** A process with a replica in it. */
function start(): ChildProcess {
  const args = [
    '--import',
    'tsx',
    resolve('test/daemon/replica/replica-program.ts'),
    stage.replicaFolder,
    stage.projectId,
    stage.door.url,
    join(stage.folder, 'ledger-heads.json'),
  ];
  return spawn(process.execPath, args, {
    env: { ...process.env, TEST_KEY: stage.apiKey },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

describe('the process with the replica in it', () => {
  it('may be killed at any time: the next one goes on with the same copy', async () => {
    const writes = writing();
    for (let kill = 0; kill < 4; kill += 1) {
      const program = start();
      let told = '';
      program.stdout?.setEncoding('utf8').on('data', (text: string) => (told += text));
      await until(
        () => told.split('\n').length,
        (count) => count > 3 + kill * 4,
      );
      program.kill('SIGKILL');
      await once(program, 'close');
    }
    const n = await writes.stop();
    const folder = new ReplicaFolder(stage.replicaFolder);
    await until(
      () => takeLock(folder.lockPath),
      (lock) => lock !== null,
    ).then((lock) => lock?.release());
    // As a crash leaves them: the notes are written after the frames. Unless it came just as the log was folded in.
    const { generation = 1, frames = 0 } = folder.readSyncedTo() ?? {};
    const isThere = statSync(`${stage.databasePath}-wal`).size >= 32 + frames * 4120;
    if (isThere) folder.writeSyncedTo({ generation, frames: Math.max(0, frames - 2) });
    const { log, lines } = collectingLog();
    const replica = stage.replica({ log });
    await expectSame(replica, n);
    expect(lines).toEqual([]);
    expect(stage.copies).toBe(1);
  });
});
