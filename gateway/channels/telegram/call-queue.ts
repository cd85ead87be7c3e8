/** Beyond this much that waits, the chat or Telegram itself is in trouble, and courtesies are left out. */
const PER_CHAT_MAX = 20;
const TOTAL_MAX = 500;
/** Beyond this much, strangers get no answer. */
const BUSY_FROM = 50;

/**
 * What is told to people after their decision has been written down: toasts, edits, replies. Nobody waits for it but the next
 * call in the same chat, so that one slow call holds up neither the decisions of others nor the order of one person's.
 */
export class CallQueue {
  readonly #onFailure: (error: unknown) => void;
  readonly #last = new Map<number, { readonly done: Promise<void>; readonly count: number }>();
  #total = 0;

  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  get isBusy(): boolean {
    return this.#total >= BUSY_FROM;
  }

  /** Runs after everything else that is to be done in this chat. False where it is left out. */
  run(chatId: number, call: () => Promise<unknown>): boolean {
    const before = this.#last.get(chatId);
    const count = before?.count ?? 0;
    if (count >= PER_CHAT_MAX || this.#total >= TOTAL_MAX) return false;
    this.#total += 1;
    const done = (before?.done ?? Promise.resolve())
      .then(call)
      .then(() => undefined, this.#onFailure)
      .finally(() => this.#finish(chatId));
    this.#last.set(chatId, { done, count: count + 1 });
    return true;
  }

  /** Resolves when nothing is left to do. */
  async idle(): Promise<void> {
    while (this.#last.size > 0) {
      await Promise.all([...this.#last.values()].map(({ done }) => done));
    }
  }

  #finish(chatId: number): void {
    this.#total -= 1;
    const last = this.#last.get(chatId);
    if (!last) return;
    if (last.count === 1) this.#last.delete(chatId);
    else this.#last.set(chatId, { done: last.done, count: last.count - 1 });
  }
}
