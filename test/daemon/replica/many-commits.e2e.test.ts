import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Replica } from '../../../daemon/replica/replica.ts';
import { COMMIT_AT, FRAME_BYTES, LOG_HEADER_BYTES } from '../../../shared/store/log/wal-layout.ts';
import { withRawDatabase } from '../../helpers/database.ts';
import { caughtUp, untilState } from './open-replica.ts';
import { Stage, valueOf } from './stage.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await Stage.open();
});

afterEach(() => stage.end());

/** The frames and the commits in a replica's log; each commit is two syncs of files. */
function logOf(replicaLog: string): { frames: number; commits: number } {
  const log = readFileSync(replicaLog);
  const frames = Math.floor((log.length - LOG_HEADER_BYTES) / FRAME_BYTES);
  const ends = Array.from({ length: frames }, (_, frame) =>
    log.readUInt32BE(LOG_HEADER_BYTES + frame * FRAME_BYTES + COMMIT_AT),
  );
  return { frames, commits: ends.filter((pages) => pages > 0).length };
}

async function writeMany(name: string, count: number): Promise<number> {
  let position = 0;
  for (let n = 0; n < count; n += 1) position = await stage.write(`${name}-${n % 5}`, n);
  return position;
}

async function expectSound(replica: Replica, name: string, last: number): Promise<void> {
  expect(await valueOf(replica, `${name}-${last % 5}`)).toBe(String(last));
  const [problem] = withRawDatabase(stage.databasePath, (connection) =>
    connection.all('PRAGMA integrity_check'),
  );
  expect(problem).toEqual({ integrity_check: 'ok' });
}

it('a replica that is behind takes many commits for the price of a few, and goes on from there', async () => {
  const first = stage.replica();
  await untilState(first, 'live');
  await stage.close(first);
  const away = await writeMany('away', 60);

  const second = stage.replica();
  await caughtUp(second, away);
  const log = logOf(`${stage.databasePath}-wal`);
  expect(log.commits).toBeLessThan(20);
  // Each commit alone has more than two pages of its own.
  expect(log.frames).toBeLessThan(120);
  await expectSound(second, 'away', 59);
  await caughtUp(second, await writeMany('again', 7));
  await stage.close(second);

  const third = stage.replica();
  await caughtUp(third, await writeMany('later', 7));
  await expectSound(third, 'later', 6);
  await stage.rotate();
  await caughtUp(third, await writeMany('rotated', 7));
  await expectSound(third, 'rotated', 6);
  expect(third.status.witness.ok).toBe(true);
  expect(stage.copies).toBe(1);
});
