import type { Caller } from './caller.ts';
import { canBeSatOut, SvcError } from './errors.ts';

/** Server timeouts may be off by some milliseconds; an empty answer this early has another cause. */
const EARLY_MS = 500;
/** A stopping server refuses connections at once, so the probe can be short. */
const PROBE_MS = 2000;

interface LongWait {
  readonly client: Caller;
  /** How long the wait should last. */
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/**
 * The answer of a wait. A server that stops answers its waits as if they had timed out; this detects that and throws
 * UNREACHABLE.
 */
export async function wholeWait<T>(
  wait: LongWait,
  call: Promise<T>,
  isNothing: (answer: T) => boolean,
): Promise<T> {
  const dueAt = performance.now() + wait.seconds * 1000;
  const answer = await call;
  const isEarly = performance.now() < dueAt - EARLY_MS;
  // An early answer alone proves nothing, because clocks differ after a machine slept.
  if (isEarly && isNothing(answer) && (await isGone(wait))) throw stopped(wait.client);
  return answer;
}

async function isGone({ client, signal }: LongWait): Promise<boolean> {
  try {
    await client.send('GET', '/v1/whoami', { signal, timeoutMs: PROBE_MS });
    return false;
  } catch (error) {
    if (signal.aborted) throw error;
    // A server that is just starting, or a proxy without its gateway; but a refusal comes from one that runs.
    return canBeSatOut(error) && !(error instanceof SvcError && isRefusal(error));
  }
}

function isRefusal({ status }: SvcError): boolean {
  return status >= 400 && status < 500;
}

function stopped({ gateway }: Caller): SvcError {
  const [message, hint] = gateway
    ? ['The gateway was stopped during the wait.', 'Try again.']
    : ['The daemon was stopped during the wait.', 'Start it with: svc up'];
  return new SvcError({ code: 'UNREACHABLE', message, hint });
}
