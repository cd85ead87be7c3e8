import type { Client } from '../client.ts';
import { unreachable } from '../errors.ts';
import { canBeSatOut } from '../retry/passing.ts';

/** The other side keeps timeouts to some milliseconds: nothing, said this much earlier, has another cause. */
const EARLY_MS = 500;
/** Who is ending refuses connections at once. */
const PROBE_MS = 2000;

interface LongWait {
  readonly client: Client;
  /** How long the wait was to last. */
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/**
 * The answer of a wait that was just begun. Who ends answers its waits as at their timeouts; here such an answer is
 * told from a timeout and thrown as unreachable.
 */
export async function wholeWait<T>(
  wait: LongWait,
  call: Promise<T>,
  isNothing: (answer: T) => boolean,
): Promise<T> {
  const dueAt = performance.now() + wait.seconds * 1000;
  const answer = await call;
  const isEarly = performance.now() < dueAt - EARLY_MS;
  // Early alone proves nothing: clocks differ, where one of the machines slept.
  if (isEarly && isNothing(answer) && (await isGone(wait))) throw stopped(wait.client);
  return answer;
}

async function isGone({ client, signal }: LongWait): Promise<boolean> {
  try {
    const response = await client.raw('GET', '/v1/whoami', { signal, timeoutMs: PROBE_MS });
    response.resume();
    // One that starts in its place, or what stands before a gateway.
    return (response.statusCode ?? 0) >= 500;
  } catch (error) {
    if (signal.aborted) throw error;
    return canBeSatOut(error);
  }
}

function stopped({ gateway }: Client): Error {
  return gateway
    ? unreachable('The gateway was stopped during the wait.', 'Try again.')
    : unreachable('The daemon was stopped during the wait.', 'Start it with: svc up');
}
