import type { Answer, OperationName } from '../call/answers.ts';
import { checkedAnswer, type Client } from '../call/client.ts';
import { unreachable } from '../errors.ts';
import type { OperationCall } from '../call/operation-command.ts';
import {
  answeredCode,
  canBeSatOut,
  mayHaveArrived,
  messageOf,
} from '../../clients/typescript/core/errors.ts';
import { deadline } from '../../shared/lib/deadline.ts';
import { HELD_MS } from '../../shared/lib/held-call.ts';
import { sleep } from '../../clients/typescript/core/clock.ts';

/** Server timers may be off by some milliseconds; an answer this early was cut short. */
const EARLY_MS = 500;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2000;

/** A request that the server holds until a person decides, or for these seconds. */
interface HeldRequest extends Pick<OperationCall, 'method' | 'path' | 'options' | 'seconds'> {
  readonly again: (seconds: number) => Omit<HeldRequest, 'again'>;
}

interface LongCall<N extends OperationName> {
  readonly client: Client;
  readonly idempotencyKey: string;
  readonly request: HeldRequest;
  /** The pending answer of an earlier call with the same key: the request exists, and only the wait goes on. */
  readonly known?: Answer<N>;
  /** Whether to go on after the time until it's known that the request exists. */
  readonly isPatient: boolean;
  readonly signal: AbortSignal;
  /** Whether the answer says that nobody has decided yet. */
  readonly isPending: (answer: Answer<N>) => boolean;
  /** Called once when the server goes away during the wait, or something in front of it ends the call. */
  readonly onAway: (error: unknown) => void;
}

/**
 * The answer of a write that waits for a person. The request survives while the server is away, so the wait goes on:
 * repeating the call with the same Idempotency-Key doesn't ask again but resumes waiting. When time is up, it returns
 * the last known answer.
 */
export function reconnectingAnswer<N extends OperationName>(call: LongCall<N>): Promise<Answer<N>> {
  return new ReconnectingCall(call).answer();
}

class ReconnectingCall<N extends OperationName> {
  readonly #call: LongCall<N>;
  readonly #dueAt: number;
  /** The newest pending answer. */
  #known: Answer<N> | null;
  #isAway = false;

  constructor(call: LongCall<N>) {
    this.#call = call;
    this.#known = call.known ?? null;
    this.#dueAt = performance.now() + call.request.seconds * 1000;
  }

  async answer(): Promise<Answer<N>> {
    const { signal, isPending } = this.#call;
    for (let tries = 0; ; tries += 1) {
      const answer = await this.#try(tries);
      if (answer !== null && !isPending(answer)) return answer;
      this.#known = answer ?? this.#known;
      if (this.#known !== null && this.#leftMs() <= EARLY_MS) return this.#known;
      const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries);
      const left = this.#leftMs();
      // The last try comes when the time is up.
      await sleep(left > 0 ? Math.min(pause, Math.ceil(left) + 1) : pause, signal);
    }
  }

  #leftMs(): number {
    return this.#dueAt - performance.now();
  }

  /** Null if a retry may still bring an answer, or if a retry's time is up. */
  async #try(tries: number): Promise<Answer<N> | null> {
    const { client, idempotencyKey, request, signal } = this.#call;
    // The server should hold a retry for the rest of the time only.
    const left = Math.max(0, Math.ceil(this.#leftMs() / 1000));
    const isFirst = tries === 0 && this.#known === null;
    const { method, path, options } = isFirst ? request : request.again(left);
    const enough = this.#known === null ? signal : deadline(Math.max(1, Math.ceil(this.#leftMs())));
    const headers = { ...options.headers, 'idempotency-key': idempotencyKey };
    const began = performance.now();
    try {
      const until = AbortSignal.any([signal, enough]);
      const answer = await client.send(method, path, { ...options, headers, signal: until });
      return checkedAnswer<N>(answer);
    } catch (error) {
      if (signal.aborted) throw new Error('Interrupted.', { cause: error });
      const wasHeld = performance.now() - began >= HELD_MS;
      // A first call that was never sent, or was refused, didn't ask anyone.
      if (isFirst && !mayHaveArrived(error, wasHeld)) throw error;
      if (!enough.aborted) this.#sitOut(error, isFirst, left);
      return null;
    }
  }

  /** Throws errors that a retry can't fix. */
  #sitOut(error: unknown, isFirst: boolean, left: number): void {
    if (!mayPass(error)) throw error;
    // Even a call that waits for nothing gets one more try.
    const isOver = !this.#call.isPatient && !isFirst && left === 0;
    if (this.#known === null && isOver) throw notKnown(error);
    if (!this.#isAway) this.#call.onAway(error);
    this.#isAway = true;
  }
}

/** Too many pending requests is a refusal, although a temporary one. */
function mayPass(error: unknown): boolean {
  return canBeSatOut(error) && answeredCode(error) !== 'TOO_MANY_PENDING_REQUESTS';
}

function notKnown(error: unknown): Error {
  return unreachable(
    messageOf(error),
    'The request may exist already. See: svc request list --status pending',
  );
}
