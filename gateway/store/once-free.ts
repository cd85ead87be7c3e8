import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../shared/lib/errors.ts';
import { errorCode } from '../../shared/lib/guards.ts';

/** A server ends the transaction of a client that has died within about ten seconds. */
const WAIT_MS = 30_000;
const AGAIN_MS = 500;

/** Retries while another client's transaction, perhaps a killed one's, locks the database. */
export async function onceFree<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + WAIT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > until) throw error;
      await sleep(AGAIN_MS);
    }
  }
}

function isBusy(error: unknown): boolean {
  return (
    error instanceof ServiceError && errorCode(error.cause)?.startsWith('SQLITE_BUSY') === true
  );
}
