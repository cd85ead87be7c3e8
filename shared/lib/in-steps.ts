import { setImmediate } from 'node:timers/promises';

/** Does the work of a generator, and lets the event loop have a turn whenever it yields. */
export async function inSteps<T>(work: Generator<void, T>): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    await setImmediate();
  }
}
