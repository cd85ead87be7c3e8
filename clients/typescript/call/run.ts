import type { Caller, CallerOptions } from '../core/caller.ts';
import { heldCall, leastOf } from '../../../shared/lib/held-call.ts';
import { machineClock, pauseWhile, type Clock } from '../core/clock.ts';
import { askedMs, isCut, mayHaveArrived, type SvcError } from '../core/errors.ts';
import { retried } from '../core/retried.ts';
import type { CallOptions, Endpoint, RunOperation } from './endpoint.ts';
import { requestOf } from './request.ts';

const RETRIES = 3;
const SILENCE_MS = 30_000;
const WAIT_DEFAULT_SECONDS = 45;
/** It's better to tell a waiting caller than to keep it waiting. */
const ASKED_MAX_MS = 60_000;

type Fields = Readonly<Record<string, unknown>>;

/** What every call of a client has in common. */
export interface CallDefaults {
  readonly timeout?: number | undefined;
  readonly maxRetries?: number | undefined;
}

/** Calls operations, with their retries. A waiting call survives connections that get cut. */
export function operationRunner(
  caller: Caller,
  defaults: CallDefaults,
  clock: Clock = machineClock,
): RunOperation {
  return async <T>(endpoint: Endpoint, input: object, options: CallOptions = {}): Promise<T> => {
    const { signal } = options;
    const key = endpoint.isWrite ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined;
    const timeout = options.timeout ?? defaults.timeout ?? SILENCE_MS;
    const send = (fields: Fields): Promise<unknown> => {
      const call = requestOf(endpoint, fields);
      const request: CallerOptions = {
        ...call.options,
        headers: { ...call.options.headers, ...(key !== undefined && { 'idempotency-key': key }) },
        timeoutMs: timeout + 1000 * waitSeconds(endpoint, fields),
        ...(signal && { signal }),
      };
      return caller.send(endpoint.method, call.path, request);
    };
    const most = options.maxRetries ?? defaults.maxRetries ?? RETRIES;
    const isLast = (failure: SvcError, tries: number): boolean =>
      tries >= most || (most !== Infinity && askedMs(failure) > ASKED_MAX_MS);
    const tried = (fields: Fields, isHeld: boolean): Promise<unknown> =>
      retried(() => send(fields), {
        signal,
        isLast: (failure, tries) => (isHeld && mayHaveArrived(failure)) || isLast(failure, tries),
        clock,
      });
    const given = input as Fields;
    const seconds = waitSeconds(endpoint, given);
    if (seconds === 0 || most === 0) return (await tried(given, false)) as T;
    const field = endpoint.seconds ?? '';
    const answer = await heldCall({
      seconds,
      leastSeconds: leastOf(field),
      send: (left) => tried(left === seconds ? given : { ...given, [field]: left }, true),
      isCut,
      pause: (ms) => pauseWhile(clock, ms, signal),
      now: () => clock.now(),
    });
    return answer as T;
  };
}

/** How long the call itself may wait. */
function waitSeconds({ seconds }: Endpoint, fields: Fields): number {
  if (seconds === undefined) return 0;
  const given = fields[seconds] ?? WAIT_DEFAULT_SECONDS;
  return typeof given === 'number' ? given : 0;
}
