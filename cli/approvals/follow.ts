import type { Request } from '../call/answers.ts';
import type { CommandContext } from '../command.ts';
import { mayHaveArrived } from '../../clients/typescript/core/errors.ts';
import { RetryingCalls } from '../../clients/typescript/core/retrying-calls.ts';
import { sleep } from '../../clients/typescript/core/clock.ts';

/**
 * The pause between two polls. svc polls because nothing announces a new request, a route or another claimer can take
 * `request.resolved` from the inbox, and waiting there needs a scope that approvals don't. This takes 30 of the 600
 * calls a minute that a key has.
 */
export const LOOK_EVERY_MS = 2000;

type Caller = Pick<CommandContext, 'client' | 'output' | 'signal'>;

export function readRequest({ client, signal }: Caller, id: string): Promise<Request> {
  return client().call('request_status', { request_id: id }, { signal });
}

/** Returns the request once it is decided, however long that takes; null once the signal is aborted. */
export async function untilDecided(context: Caller, id: string): Promise<Request | null> {
  const { signal } = context;
  const calls = retryingCalls(context);
  const read = (): Promise<Request> => readRequest(context, id);
  let record = await readAtFirst(read, calls);
  while (record?.status === 'pending') {
    if (!(await sleep(LOOK_EVERY_MS, signal))) return null;
    record = await calls.answer(read);
  }
  return record;
}

/** The first read of a wait: retries only a proxy's errors, so any other error shows at once. */
export async function readAtFirst<T>(
  read: () => Promise<T>,
  calls: RetryingCalls,
): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (!mayHaveArrived(error)) throw error;
    return calls.answer(read);
  }
}

/** Calls that report network trouble and retry until it ends. */
export function retryingCalls({
  output,
  signal,
}: Pick<Caller, 'output' | 'signal'>): RetryingCalls {
  return new RetryingCalls({ signal, trouble: (text) => output.note(text) });
}
