import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../helpers/gateway.ts';
import { clientBot, linkPackage } from './client-bot.ts';
import { BotStage } from './pr-bot.ts';

const PATIENCE = { timeout: 240_000, interval: 500 };
const NUMBERS = Array.from({ length: 10 }, (_one, index) => 301 + index);

/** Each step of each pull request, once. */
const ONCE = NUMBERS.flatMap((number) => [`merge ${number}`, `review ${number}`]).toSorted();

function actsIn(stage: string): string[] {
  const file = join(stage, 'acts');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').toSorted() : [];
}

it('a TypeScript worker does everything once, however often the daemon is killed', async () => {
  const folder = temporaryFolder();
  const stage = new BotStage(folder.path);
  onTestFinished(async () => {
    await stage.stop();
    folder.remove();
  });
  await stage.start();
  linkPackage(join(folder.path, 'stage'));
  // The daemon dies in the middle of a step, at which point nobody knows whether it is kept.
  for (const step of ['review-302', 'merge-303', 'review-304', 'merge-305']) {
    writeFileSync(join(folder.path, 'stage', `kill-${step}`), 'daemon');
  }
  await stage.programLane('bot', clientBot());
  const ids: string[] = [];
  for (const number of NUMBERS) {
    ids.push(await stage.push('bot', { number, sha: 'a'.repeat(32) + String(number) }));
    if (number % 4 === 0) stage.killDaemon();
  }
  const open = async (): Promise<string[]> => {
    await stage.decide('Approve');
    const all = await Promise.all(ids.map((id) => stage.event(id)));
    return all.flatMap(({ status }, index) => (status === 'done' ? [] : [`${NUMBERS[index]}`]));
  };
  await expect.poll(open, PATIENCE).toEqual([]);
  expect(actsIn(join(folder.path, 'stage'))).toEqual(ONCE);
  const asked = (await stage.requests()).map(({ event_id }) => String(event_id));
  expect(asked.toSorted()).toEqual(ids.toSorted());
  expect(existsSync(join(folder.path, 'stage', 'kill-merge-305'))).toBe(false);
});
