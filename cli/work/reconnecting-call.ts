import type { Client } from '../client.ts';
import { LostAnswer, messageOf, unreachable } from '../errors.ts';
import type { OperationCall } from '../operation-command.ts';
import { canBeSatOut } from '../retry/passing.ts';
import { answeredCode, sleep } from './backoff.ts';

/** The other side keeps its times to some milliseconds: an answer this much earlier was cut short. */
const EARLY_MS = 500;
/** Who has no answer at all when the time is over gets one this much later, if a restart is just under way. */
const GRACE_MS = 10_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2000;

interface LongCall {
  readonly client: Client;
  readonly idempotencyKey: string;
  readonly request: Pick<OperationCall, 'method' | 'path' | 'options' | 'seconds'>;
  readonly signal: AbortSignal;
  /** Whether an answer says that nobody has decided yet. */
  readonly isPending: (answer: unknown) => boolean;
  /** Told once when the other side goes away in the middle. */
  readonly onAway: () => void;
}

/**
 * The answer of a write that waits for a person. What was asked lives on while the other side is away, so that the wait
 * goes on as well: the same call under the same Idempotency-Key asks nobody twice and takes up the wait. At the end of
 * its time the answer is what was known last.
 */
export function reconnectingAnswer(call: LongCall): Promise<unknown> {
  return new ReconnectingCall(call).answer();
}

class ReconnectingCall {
  readonly #call: LongCall;
  readonly #dueAt: number;
  /** The newest answer, which says that nobody has decided. */
  #known: unknown = null;
  #isAway = false;

  constructor(call: LongCall) {
    this.#call = call;
    this.#dueAt = performance.now() + call.request.seconds * 1000;
  }

  async answer(): Promise<unknown> {
    const { signal, isPending } = this.#call;
    for (let tries = 0; ; tries += 1) {
      const answer = await this.#try(tries);
      if (answer !== null && !isPending(answer)) return answer;
      this.#known = answer ?? this.#known;
      if (this.#known !== null && this.#leftMs() <= EARLY_MS) return this.#known;
      await sleep(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries), signal);
    }
  }

  #leftMs(): number {
    return this.#dueAt - performance.now();
  }

  /** Null when not found and a repeat may bring one, or when the time of a repeat is over. */
  async #try(tries: number): Promise<unknown> {
    const { client, idempotencyKey, request, signal } = this.#call;
    const { method, path, options } = request;
    // A repeat is held for as long as the first call asked for; it need not go on when the time is over.
    const enough =
      this.#known === null ? signal : AbortSignal.timeout(Math.max(1, Math.ceil(this.#leftMs())));
    const headers = { ...options.headers, 'idempotency-key': idempotencyKey };
    try {
      const until = AbortSignal.any([signal, enough]);
      return await client.call(method, path, { ...options, headers, signal: until });
    } catch (error) {
      if (signal.aborted) throw new Error('Interrupted.', { cause: error });
      if (!enough.aborted) this.#sitOut(error, tries);
      return null;
    }
  }

  /** Throws what a repeat cannot mend. */
  #sitOut(error: unknown, tries: number): void {
    // A first call that never left, or was refused, asked nobody.
    if (tries === 0 && !(error instanceof LostAnswer)) throw error;
    if (!mayPass(error)) throw error;
    if (this.#known === null && this.#leftMs() <= -GRACE_MS) throw notKnown(error);
    if (!this.#isAway) this.#call.onAway();
    this.#isAway = true;
  }
}

/** Too many pending requests are a refusal, though of the kind that passes. */
function mayPass(error: unknown): boolean {
  return canBeSatOut(error) && answeredCode(error) !== 'TOO_MANY_PENDING_REQUESTS';
}

function notKnown(error: unknown): Error {
  return unreachable(
    messageOf(error),
    'The request may exist already. See: svc request list --status pending',
  );
}
