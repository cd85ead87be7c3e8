import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { deadline } from '../../../shared/lib/deadline.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Twice: what a first collection frees may hold something else. */
async function collectGarbage(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) {
    await sleep(1);
    collect();
  }
}

const aborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)));

it('a deadline beside another signal comes although garbage is collected meanwhile', async () => {
  const { signal } = new AbortController();
  const ended = aborted(AbortSignal.any([signal, deadline(50)]));
  await collectGarbage();
  expect(await ended).toMatchObject({ name: 'TimeoutError' });
});
