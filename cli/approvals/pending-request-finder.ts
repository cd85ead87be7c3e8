import type { Request } from '../call/answers.ts';
import type { CommandContext } from '../command.ts';
import { tellOutbox } from './outbox-hint.ts';
import { sleep } from '../../clients/typescript/core/clock.ts';

/** By this time a policy has already decided or refused most calls, so only then look for the request. */
const LOOK_AFTER_MS = 300;
/** It looks at most this often. */
const LOOKS = 5;
/** Two equal requests within this time can't be told apart. */
const TWINS_MS = 2000;
const NEWEST = 10;

/**
 * Finds the pending request of a call that only answers once it's decided. The id goes into the spinner and into the
 * hint after Ctrl-C, and svc can say where the question went.
 */
export class PendingRequestFinder {
  readonly #context: CommandContext;
  readonly #isIt: (record: Request) => boolean;
  #id: string | null = null;
  #isOver = false;
  #hasTold = false;

  constructor(context: CommandContext, isIt: (record: Request) => boolean) {
    this.#context = context;
    this.#isIt = isIt;
  }

  /** What the spinner says. */
  get text(): string {
    return this.#id === null ? 'Waiting for a person' : `Waiting for a person: ${this.#id}`;
  }

  /** Takes the id from the call's answer. */
  knownAs(id: string): void {
    this.#id = id;
  }

  /** Looks for the request until `call` answers. */
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
    let record: Request | null = null;
    // On a busy machine the request may be made only after the first look.
    for (let look = 0; look < LOOKS && record === null; look += 1) {
      if (!(await sleep(LOOK_AFTER_MS, signal))) return;
      record = await this.#find(signal).catch(() => null);
      if (this.#isOver) return;
    }
    this.#id = record?.request_id ?? null;
    await this.tellWhere(record);
  }

  async #find(signal: AbortSignal): Promise<Request | null> {
    const query = { status: 'pending', limit: NEWEST } as const;
    const { items } = await this.#context.client().call('request_list', query, { signal });
    const [newest, other] = items.filter(this.#isIt);
    return newest && !(other && areTwins(newest, other)) ? newest : null;
  }

  /** Says once that the question is in this machine's outbox, if it is. */
  async tellWhere(record: Request | null): Promise<void> {
    if (this.#hasTold || (record !== null && !goesByMail(record))) return;
    this.#hasTold = true;
    await tellOutbox(this.#context, 'The question');
  }

  /** Prints how to resume after the user stops waiting. */
  tellLeft(): void {
    const { output } = this.#context;
    if (this.#id === null) {
      output.note('Requests you already made stay open. See: svc request list --status pending');
      return;
    }
    output.note(`The request stays open. To resume waiting: svc request watch ${this.#id}`);
  }
}

function goesByMail({ notified }: Request): boolean {
  return notified.some(({ kind }) => kind === 'email');
}

function areTwins(one: Request, other: Request): boolean {
  const apart = Date.parse(one.created_at) - Date.parse(other.created_at);
  return Math.abs(apart) < TWINS_MS;
}
