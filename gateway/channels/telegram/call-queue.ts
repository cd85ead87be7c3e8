/** If more than this waits, the chat or Telegram has a problem, and we skip courtesies. */
const PER_CHAT_MAX = 20;
const TOTAL_MAX = 500;
/** If more than this waits, strangers get no answer. */
const BUSY_FROM = 50;

/**
 * Messages to people after their decision was recorded: toasts, edits and replies. Only the next call in the same chat
 * waits for one, so a slow call delays nobody else's decisions and keeps one person's messages in order.
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

  /** Runs after all other calls in this chat. False if it's skipped. */
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

  /** Resolves when all calls are done. */
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
