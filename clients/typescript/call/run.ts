import { isObject } from '../../../shared/lib/guards.ts';
import { Backoff } from '../core/backoff.ts';
import type { Caller, CallerOptions } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { askedMs, failedForNow, SvcError } from '../core/errors.ts';
import type { CallOptions, Place, RunOperation } from './place.ts';

const RETRIES = 3;
const SILENCE_MS = 30_000;
const WAIT_DEFAULT_SECONDS = 45;
/** A caller that waits for its answer is better told than kept for longer. */
const ASKED_MAX_MS = 60_000;
const LONGEST_PAUSE_MS = 10_000;

type Query = NonNullable<CallerOptions['query']>;
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
    return (await tried(send, { ...defaults, ...withoutUndefined(options) }, clock)) as T;
  };
}

/** Repeats a call that failed only for now. */
async function tried<T>(
  send: () => Promise<T>,
  { maxRetries = RETRIES, signal = new AbortController().signal }: CallOptions,
  clock?: Clock,
): Promise<T> {
  const backoff = new Backoff(LONGEST_PAUSE_MS, clock);
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const isTooLong = maxRetries !== Infinity && askedMs(error) > ASKED_MAX_MS;
      if (!failedForNow(error) || backoff.failures >= maxRetries || isTooLong) throw error;
      await backoff.pause(error, signal);
      signal.throwIfAborted();
    }
  }
}

/** How long the call itself may wait. */
function waitMs({ seconds }: Place, fields: Fields): number {
  if (seconds === undefined) return 0;
  const given = fields[seconds] ?? WAIT_DEFAULT_SECONDS;
  return typeof given === 'number' ? given * 1000 : 0;
}

/** Puts each field where the operation's route has it. */
function requestOf(
  place: Place,
  fields: Fields,
): { readonly path: string; readonly options: CallerOptions } {
  const left: Record<string, unknown> = { ...withoutUndefined(fields) };
  const path = place.path.replaceAll(/\{(\w+)(\+?)\}/g, (_whole, name: string) => {
    const field = place.params?.[name] ?? name;
    const value = left[field];
    if (typeof value !== 'string' || value === '') throw missing(field);
    delete left[field];
    return encodeURIComponent(value);
  });
  const hasBody = place.method === 'POST' || place.method === 'PUT';
  if (!hasBody) return { path, options: { query: queryOf(place, left) } };
  if (!place.body) return { path, options: { body: left } };
  return { path, options: rawOptions(place.body, left) };
}

function rawOptions(
  body: NonNullable<Place['body']>,
  left: Record<string, unknown>,
): CallerOptions {
  const { field, as, typeField, objectType } = body;
  if (objectType !== undefined && !Object.hasOwn(left, field)) {
    return { body: left, headers: { 'content-type': objectType } };
  }
  const { [field]: value = null, [typeField ?? '']: type, ...query } = left;
  if (as === 'json') return { body: value, query: textsOf(query) };
  const headers = typeof type === 'string' ? { 'content-type': type } : {};
  const bytes = typeof value === 'string' ? bytesOf(value) : new Uint8Array();
  return { bytes, headers, query: textsOf(query) };
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

function queryOf({ objects = [] }: Place, fields: Fields): Query {
  const texts = Object.entries(fields).map(([name, value]) => [
    name,
    objects.includes(name) ? JSON.stringify(value) : value,
  ]);
  return textsOf(Object.fromEntries(texts) as Fields);
}

function textsOf(fields: Fields): Query {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(String) : textOf(value),
    ]),
  );
}

function textOf(value: unknown): string {
  return isObject(value) ? JSON.stringify(value) : String(value);
}

function missing(field: string): SvcError {
  const message = `The call needs ${field}.`;
  return new SvcError({
    code: 'VALIDATION_FAILED',
    message,
    details: { fields: [{ path: field }] },
  });
}

function withoutUndefined<T extends object>(value: T): T {
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(entries) as T;
}
