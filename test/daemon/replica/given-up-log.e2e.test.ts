import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { giveUpLogs } from '../../../shared/store/log/log-archive.ts';
import { caughtUp } from './open-replica.ts';
import { Stage, valueOf } from './stage.ts';

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.open();
});
afterEach(() => stage.end());

describe('a replica that was away while its log was given up', () => {
  it('copies the project again, and goes on', async () => {
    const replica = stage.replica();
    await caughtUp(replica, await stage.write('a'));
    await stage.close(replica);
    const before = stage.copies;
    for (const name of ['b', 'c', 'd']) {
      await stage.write(name);
      await stage.rotate();
    }
    await giveUpLogs(join(stage.projectFolder, 'project.db'));
    const again = stage.replica();
    await caughtUp(again, await stage.write('e'));
    expect(stage.copies).toBeGreaterThan(before);
    expect(await valueOf(again, 'b')).toBe('"b"');
    await caughtUp(again, await stage.write('f'));
    expect(await valueOf(again, 'f')).toBe('"f"');
  });

  it('needs no new copy if it was at hand, because the newest part stays', async () => {
    const replica = stage.replica();
    await caughtUp(replica, await stage.write('a'));
    const before = stage.copies;
    for (const name of ['b', 'c', 'd']) {
      await caughtUp(replica, await stage.write(name));
      await stage.rotate();
      await giveUpLogs(join(stage.projectFolder, 'project.db'));
    }
    await caughtUp(replica, await stage.write('e'));
    expect(stage.copies).toBe(before);
  });
});
