import type { CallOptions, RunOperation } from './call/endpoint.ts';
import type { Clock } from './core/clock.ts';
import { answeredCode, SvcError } from './core/errors.ts';
import { ENDPOINTS } from './generated/endpoints.ts';
import type { KvSetAnswer } from './generated/types.ts';

const LOOK_EVERY_MS = 1000;

/** How to take a lock. */
export interface LockOptions {
  /** After this long without a beat the lock is free again, 10 s or more (default 60). */
  readonly ttlSeconds?: number | undefined;
  /** How long to wait for it, in milliseconds (default: until it's free). */
  readonly wait?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface Deps {
  readonly run: RunOperation;
  readonly clock: Clock;
}

/**
 * Runs something while this program alone holds a lock, the key `lock/NAME`. Its signal fires before anybody else can
 * get the lock. Throws LOCKED if the lock isn't free in time.
 */
export async function whileLocked<T>(
  deps: Deps,
  name: string,
  { ttlSeconds = 60, wait = Infinity, signal }: LockOptions,
  task: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const lost = new AbortController();
  const lock = { key: `lock/${name}`, ttlSeconds };
  const held = await take(deps, lock, wait, signal);
  const keeping = keep(deps, lock, held, { ended: ended.signal, lost });
  try {
    return await task(signal ? AbortSignal.any([signal, lost.signal]) : lost.signal);
  } finally {
    ended.abort();
    const version = await keeping;
    const free = { key: lock.key, if_version: version };
    // If it's gone or somebody else's, there's nothing to free; otherwise it ends by itself.
    if (!lost.signal.aborted) await deps.run(ENDPOINTS.kv_delete, free).catch(() => undefined);
  }
}

interface LockGrant {
  readonly version: number;
  /** When it was asked for. */
  readonly sentAt: number;
}

interface Lock {
  readonly key: string;
  readonly ttlSeconds: number;
}

async function take(
  deps: Deps,
  lock: Lock,
  wait: number,
  signal = new AbortController().signal,
): Promise<LockGrant> {
  const dueAt = deps.clock.now() + wait;
  for (;;) {
    try {
      return await set(deps, lock, 0, { signal });
    } catch (error) {
      if (answeredCode(error) !== 'PRECONDITION_FAILED') throw error;
      const leftMs = dueAt - deps.clock.now();
      if (leftMs <= 0) throw taken(lock);
      await deps.clock.sleep(Math.min(LOOK_EVERY_MS, leftMs), signal);
      signal.throwIfAborted();
    }
  }
}

async function set(
  { run, clock }: Deps,
  { key, ttlSeconds }: Lock,
  if_version: number,
  options: CallOptions,
): Promise<LockGrant> {
  const sentAt = clock.now();
  const input = { key, value: { locked: true }, ttl_seconds: ttlSeconds, if_version };
  const { version }: KvSetAnswer = await run(ENDPOINTS.kv_set, input, options);
  return { version, sentAt };
}

/** Renews the lock until its task has ended; answers its last version. */
async function keep(
  deps: Deps,
  lock: Lock,
  first: LockGrant,
  { ended, lost }: { readonly ended: AbortSignal; readonly lost: AbortController },
): Promise<number> {
  let held = first;
  const endsAt = (): number => held.sentAt + lock.ttlSeconds * 980;
  const beatMs = lock.ttlSeconds * 300;
  while (await deps.clock.sleep(Math.min(beatMs, endsAt() - deps.clock.now()), ended)) {
    if (deps.clock.now() >= endsAt()) {
      lost.abort(taken(lock));
      return held.version;
    }
    try {
      held = await set(deps, lock, held.version, { timeout: beatMs / 2, maxRetries: 0 });
    } catch (error) {
      if (answeredCode(error) === 'PRECONDITION_FAILED') {
        lost.abort(error);
        return held.version;
      }
      await deps.clock.sleep(LOOK_EVERY_MS, ended);
    }
  }
  return held.version;
}

function taken({ key }: Lock): SvcError {
  return new SvcError({ code: 'LOCKED', message: `Somebody else holds ${key}.` });
}
