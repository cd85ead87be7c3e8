import { isObject } from '../../shared/lib/guards.ts';
import type { CommandContext } from '../command.ts';
import { badAnswer } from '../errors.ts';
import { sleep } from '../work/backoff.ts';
import { RetryingCalls } from '../work/retrying-calls.ts';
import type { Asked } from './decision.ts';

/**
 * Between two looks. Requests are polled, not waited for: nothing tells of a new one, `request.resolved` is taken out of
 * the inbox by whoever claims it first or by a route, and waiting there needs a scope that approvals do not. Of the 600
 * calls a minute that a key has, this takes 30.
 */
export const LOOK_EVERY_MS = 2000;

type Caller = Pick<CommandContext, 'client' | 'output' | 'signal'>;

/** The record of a request. */
export async function readRequest(context: Caller, id: string): Promise<Asked> {
  const { signal } = context;
  const path = `/v1/requests/${encodeURIComponent(id)}`;
  const record = await context.client().call('GET', path, { signal });
  if (!isObject(record)) throw badAnswer("The answer isn't a request.");
  return record;
}

/** The record of a request once it is decided, however long that takes; null once the signal is aborted. */
export async function untilDecided(context: Caller, id: string): Promise<Asked | null> {
  const { signal } = context;
  const calls = retryingCalls(context);
  // What fails at the start is told at once.
  let record: Asked | null = await readRequest(context, id);
  while (record?.['status'] === 'pending') {
    if (!(await sleep(LOOK_EVERY_MS, signal))) return null;
    record = await calls.answer(() => readRequest(context, id));
  }
  return record;
}

/** Calls that sit out network trouble and say so. */
export function retryingCalls({
  output,
  signal,
}: Pick<Caller, 'output' | 'signal'>): RetryingCalls {
  return new RetryingCalls({ signal, trouble: (text) => output.note(text) });
}
