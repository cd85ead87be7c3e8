import type { Caller, CallerOptions } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { askedMs, type SvcError } from '../core/errors.ts';
import { retried } from '../core/retried.ts';
import type { CallOptions, Place, RunOperation } from './place.ts';
import { requestOf } from './request.ts';

const RETRIES = 3;
const SILENCE_MS = 30_000;
const WAIT_DEFAULT_SECONDS = 45;
/** A caller that waits for its answer is better told than kept for longer. */
const ASKED_MAX_MS = 60_000;

type Fields = Readonly<Record<string, unknown>>;

/** What every call of a client has in common. */
export interface CallDefaults {
  readonly timeout?: number | undefined;
  readonly maxRetries?: number | undefined;
}

/** Calls operations, with their retries. */
export function operationRunner(
  caller: Caller,
  defaults: CallDefaults,
  clock?: Clock,
): RunOperation {
  return async <T>(place: Place, input: object, options: CallOptions = {}): Promise<T> => {
    const fields = input as Fields;
    const call = requestOf(place, fields);
    const key = place.isWrite ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined;
    const timeout = options.timeout ?? defaults.timeout ?? SILENCE_MS;
    const request: CallerOptions = {
      ...call.options,
      headers: { ...call.options.headers, ...(key !== undefined && { 'idempotency-key': key }) },
      timeoutMs: timeout + waitMs(place, fields),
      ...(options.signal && { signal: options.signal }),
    };
    const send = (): Promise<unknown> => caller.call(place.method, call.path, request);
    const most = options.maxRetries ?? defaults.maxRetries ?? RETRIES;
    const isLast = (failure: SvcError, tries: number): boolean =>
      tries >= most || (most !== Infinity && askedMs(failure) > ASKED_MAX_MS);
    return (await retried(send, { signal: options.signal, isLast, clock })) as T;
  };
}

/** How long the call itself may wait. */
function waitMs({ seconds }: Place, fields: Fields): number {
  if (seconds === undefined) return 0;
  const given = fields[seconds] ?? WAIT_DEFAULT_SECONDS;
  return typeof given === 'number' ? given * 1000 : 0;
}
