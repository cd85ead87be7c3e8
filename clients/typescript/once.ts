import { isObject } from '../../shared/lib/guards.ts';
import type { CallOptions, RunOperation } from './call/endpoint.ts';
import { answeredCode, SvcError } from './core/errors.ts';
import { ENDPOINTS } from './generated/endpoints.ts';
import type { KvGetAnswer } from './generated/types.ts';

/** 30 days, as long as an event's payload is kept. */
const KEPT_SECONDS = 2_592_000;
const NAME = /^[\w.-]{1,100}$/;

/**
 * Runs a step once and keeps what it returned as JSON, in the key `once/SCOPE/NAME`, where `svc once` finds it too. If
 * two run at once, the first to finish counts, and both return its result.
 */
export async function keptOnce<T>(
  run: RunOperation,
  { scope, name }: { readonly scope: string; readonly name: string },
  step: () => T | Promise<T>,
  options: CallOptions,
): Promise<T> {
  if (!NAME.test(name)) throw usage(`"${name}" can't be a step's name.`);
  const key = `once/${scope}/${name}`;
  const before = await read(run, key, options);
  if (before !== null) return before.result as T;
  const result = await step();
  const input = { key, value: { text: textOf(result) }, ttl_seconds: KEPT_SECONDS, if_version: 0 };
  try {
    // The step is done: an outage is sat out, or the step would run again.
    await run(ENDPOINTS.kv_set, input, { ...options, maxRetries: Infinity });
  } catch (error) {
    if (answeredCode(error) !== 'PRECONDITION_FAILED') throw error;
    return ((await read(run, key, options)) ?? { result }).result as T;
  }
  return result;
}

async function read(
  run: RunOperation,
  key: string,
  options: CallOptions,
): Promise<{ readonly result: unknown } | null> {
  const found: KvGetAnswer = await run(
    ENDPOINTS.kv_get,
    { key },
    { ...options, idempotencyKey: undefined },
  );
  if (!found) return null;
  const text = isObject(found.value) ? found.value['text'] : undefined;
  if (typeof text === 'string') return { result: resultOf(text) };
  throw usage(`The key ${key} holds no result of a step.`);
}

function textOf(result: unknown): string {
  return result === undefined ? '' : JSON.stringify(result);
}

/** A step of `svc once` may have printed any text. */
function resultOf(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function usage(message: string): SvcError {
  const hint = 'A name has up to 100 letters, digits, . _ and -';
  return new SvcError({ code: 'USAGE', message, hint });
}
