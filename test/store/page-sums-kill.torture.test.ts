import { afterAll, beforeAll, expect, it } from 'vitest';
import { join } from 'node:path';
import { checkDatabase } from '../../gateway/store/check-database.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { buildLogProgram, LogProcess } from './log-process.ts';

const ROUNDS = 16;

const built = temporaryFolder();
let program = '';
beforeAll(() => {
  program = buildLogProgram(built.path);
});
afterAll(() => built.remove());

/** What a process that is killed doesn't answer. */
function died(): void {}

async function damageOf(folder: string, path: string): Promise<string[]> {
  const damage: string[] = [];
  for await (const step of checkDatabase(path, { dataFolder: folder, project: null })) {
    if ('what' in step) damage.push(`${step.file} ${step.what}`);
  }
  return damage;
}

it('a database whose process is killed during checkpoints, again and again, never looks damaged', async () => {
  const folder = temporaryFolder();
  const path = join(folder.path, 'test.db');
  const found: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const log = await LogProcess.start(program, path);
    if (!log) throw new Error('It died.');
    if (round % 3 === 0) await log.follow().catch(died);
    const work: Promise<unknown>[] = [];
    for (let step = 0; step < 12; step += 1) {
      const names = Array.from({ length: 5 }, (_, index) => `r${round}-${step}-${index}`);
      work.push(log.put(names, 3000).catch(died), log.rotate().catch(died));
    }
    // One kill hits the writes, another a checkpoint.
    await work[round % work.length];
    await log.kill();
    await Promise.all(work);
    found.push(...(await damageOf(folder.path, path)));
    expect(found).toEqual([]);
  }
  folder.remove();
});
