import { isObject } from '../../shared/lib/guards.ts';
import type { CommandContext } from '../command.ts';
import { sleep } from '../work/backoff.ts';
import type { Asked } from './decision.ts';
import { tellOutbox } from './outbox-hint.ts';

/** A call that is answered by now was decided by a policy, or refused. */
const LOOK_AFTER_MS = 300;
/** Two of the same in so short a time cannot be told apart. */
const TWINS_MS = 2000;
const NEWEST = 10;

/**
 * A request that a call waits for. The call answers at its end only, so the request is looked for beside it: for the
 * spinner, for whoever interrupts, and to say where the question went.
 */
export class Waiting {
  readonly #context: CommandContext;
  readonly #isIt: (record: Asked) => boolean;
  #id: string | null = null;
  #isOver = false;
  #hasTold = false;

  constructor(context: CommandContext, isIt: (record: Asked) => boolean) {
    this.#context = context;
    this.#isIt = isIt;
  }

  /** What the spinner says. */
  get text(): string {
    return this.#id === null ? 'Waiting for a person' : `Waiting for a person: ${this.#id}`;
  }

  /** The call has told its id. */
  knownAs(id: string): void {
    this.#id = id;
  }

  /** Looks for the request while `call` has no answer. */
  async during<T>(call: Promise<T>): Promise<T> {
    const ended = new AbortController();
    const signal = AbortSignal.any([ended.signal, this.#context.signal]);
    const looking = this.#look(signal);
    try {
      return await call;
    } finally {
      this.#isOver = true;
      ended.abort();
      await looking;
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    if (!(await sleep(LOOK_AFTER_MS, signal))) return;
    const record = await this.#find(signal).catch(() => null);
    if (this.#isOver) return;
    this.#id = record === null ? null : String(record['request_id']);
    await this.tellWhere(record);
  }

  async #find(signal: AbortSignal): Promise<Asked | null> {
    const query = { status: 'pending', limit: NEWEST };
    const answer = await this.#context.client().call('GET', '/v1/requests', { query, signal });
    const items: unknown = isObject(answer) ? answer['items'] : null;
    const found = (Array.isArray(items) ? items : []).filter(isObject).filter(this.#isIt);
    const [newest, other] = found;
    return newest && !(other && areTwins(newest, other)) ? newest : null;
  }

  /** Says once that the question lies in the outbox of this machine, where it does. */
  async tellWhere(record: Asked | null): Promise<void> {
    if (this.#hasTold || (record !== null && !goesByMail(record))) return;
    this.#hasTold = true;
    await tellOutbox(this.#context, 'The question');
  }

  /** For whoever ends the wait before its time. */
  tellLeft(): void {
    const { output } = this.#context;
    if (this.#id === null) {
      output.note('Requests you already made stay open. See: svc request list --status pending');
      return;
    }
    output.note(`The request stays open. To resume waiting: svc request watch ${this.#id}`);
  }
}

function goesByMail({ notified }: Asked): boolean {
  const notices = Array.isArray(notified) ? notified : [];
  return notices.some((notice) => isObject(notice) && notice['kind'] === 'email');
}

function areTwins(one: Asked, other: Asked): boolean {
  const apart = Date.parse(String(one['created_at'])) - Date.parse(String(other['created_at']));
  return Math.abs(apart) < TWINS_MS;
}
