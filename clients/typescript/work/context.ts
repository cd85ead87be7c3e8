import { answerOf, approvalOf, type Approval } from '../ask.ts';
import type { ApprovalFields, HumanAnswer, HumanFields } from '../ask.ts';
import type { CallOptions, RunOperation } from '../call/endpoint.ts';
import type { Lease } from '../core/lease.ts';
import { keptOnce } from '../once.ts';
import { ENDPOINTS } from '../generated/endpoints.ts';
import type {
  AskAnswer,
  ClaimedEvent,
  InboxNackAnswer,
  StateLoadAnswer,
} from '../generated/types.ts';
import { Parked } from './parked.ts';

/** A claimed event. Outsiders wrote its payload; its type is known if the worker checks it. */
export type WorkEvent<P = unknown> = Omit<ClaimedEvent, 'payload'> & { readonly payload: P };

/** What a handler works with. */
export interface WorkContext {
  /**
   * Fires when the event is no longer this handler's: its lease is lost, it was parked, or the worker is stopped hard.
   * Pass it to everything that should end then.
   */
  readonly signal: AbortSignal;
  /** What woke a parked event: the answers, and the `state` it was parked with. Undefined the first time. */
  readonly resumed: ClaimedEvent['resumed'];
  /**
   * Asks people. While nobody has decided, it parks the event and ends the handler by throwing `Parked`. Once they have,
   * it returns a yes or an answer; otherwise it throws `NotApproved` or `NotAnswered`, which end the handler, and the
   * event is done.
   */
  readonly ask: {
    readonly approval: (
      action: string,
      summary: string,
      options?: ApprovalFields,
    ) => Promise<Approval>;
    readonly human: (question: string, options?: HumanFields) => Promise<HumanAnswer>;
  };
  /**
   * Runs a step once per event, however often the handler starts again, and returns its result as JSON. A step that a
   * crash cut short runs again.
   */
  readonly once: <T>(name: string, step: () => T | Promise<T>) => Promise<T>;
  /**
   * Gives the event back until something ends (`req_…`, `evt_…`, `msg_…`, `+2h`, a time), and ends the handler; with
   * several, until all have ended, or the first with `any`.
   */
  readonly park: (
    until: string | readonly string[],
    options?: { readonly any?: boolean; readonly state?: unknown },
  ) => Promise<never>;
  /** Uses an approval up when the event is acked, in the same commit, with the values it bound. */
  readonly spend: (answer: Approval) => void;
  /** What earlier runs for this event left: any JSON. Null if nothing. */
  readonly state: {
    readonly load: () => Promise<unknown>;
    readonly save: (value: unknown, note?: string) => Promise<void>;
  };
}

interface Deps {
  readonly event: WorkEvent;
  readonly lease: Lease;
  readonly run: RunOperation;
  /** The worker is stopped hard. */
  readonly kill: AbortSignal;
}

/** One run of a handler: what it's given, and what it did with its event meanwhile. */
export class HandlerContext implements WorkContext {
  readonly #deps: Deps;
  readonly #parked = new AbortController();
  readonly signal: AbortSignal;
  /** Set by `spend`. */
  spent: { readonly spends: string; readonly bind?: unknown } | null = null;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.signal = AbortSignal.any([deps.lease.lost, this.#parked.signal, deps.kill]);
  }

  get resumed(): ClaimedEvent['resumed'] {
    return this.#deps.event.resumed;
  }

  /** Whether the handler parked its event. */
  get parked(): Parked | null {
    return this.#parked.signal.aborted ? (this.#parked.signal.reason as Parked) : null;
  }

  readonly ask: WorkContext['ask'] = {
    approval: async (action, summary, options = {}) =>
      approvalOf(await this.#ask('ask_approval', { ...options, action, summary }), options.bind),
    human: async (question, options = {}) =>
      answerOf(await this.#ask('ask_human', { ...options, question })),
  };

  readonly state: WorkContext['state'] = {
    load: async () => {
      const input = { task_id: this.#deps.event.id };
      const found: StateLoadAnswer = await this.#deps.run(
        ENDPOINTS.state_load,
        input,
        this.#calls(),
      );
      return found?.state ?? null;
    },
    save: async (state, note) => {
      const input = { task_id: this.#deps.event.id, state, note };
      await this.#deps.run(ENDPOINTS.state_save, input, this.#calls());
    },
  };

  readonly once = async <T>(name: string, step: () => T | Promise<T>): Promise<T> => {
    const { run, event } = this.#deps;
    return keptOnce(run, { scope: event.id, name }, step, this.#calls());
  };

  readonly park: WorkContext['park'] = async (until, options = {}) => {
    const { run, event } = this.#deps;
    const conditions = typeof until === 'string' ? [until] : until;
    const input = { ...this.#held(), until: conditions, ...options };
    await run<InboxNackAnswer>(ENDPOINTS.inbox_nack, input, this.#calls());
    throw this.#park(new Parked(event.id, conditions));
  };

  readonly spend: WorkContext['spend'] = ({ request_id, bind }) => {
    this.spent = { spends: request_id, ...(bind !== undefined && { bind }) };
  };

  async #ask(name: 'ask_approval' | 'ask_human', fields: object): Promise<AskAnswer> {
    const input = { ...fields, ...this.#held(), park: true };
    const { run, event } = this.#deps;
    const answer: AskAnswer = await run(ENDPOINTS[name], input, this.#calls());
    if (answer.parked) throw this.#park(new Parked(event.id, [answer.request_id]));
    // The question was found, but the event is another's now: this says whose.
    if (answer.status === 'pending') return this.park(answer.request_id);
    return answer;
  }

  #held() {
    const { event } = this.#deps;
    return { event_id: event.id, lease_id: event.lease_id };
  }

  #park(parked: Parked): Parked {
    this.#deps.lease.release();
    this.#parked.abort(parked);
    return parked;
  }

  /** Trouble is sat out for as long as the event is held. */
  #calls(): CallOptions {
    if (this.parked) throw this.parked;
    return { signal: this.signal, maxRetries: Infinity };
  }
}
