import type { Clock } from '../../../shared/lib/clock.ts';
import { Recent } from './recent.ts';
import type { Chat } from './chat.ts';
import { CallbackQueries } from './callback-queries.ts';
import { Texts } from './texts.ts';
import { parseUpdate, updateId, type Update } from './update.ts';

/** Telegram repeats unconfirmed updates for a day. */
const SEEN = { keptMs: 86_400_000, maxCount: 10_000 };

/** Handles each update once, however it arrives. */
export class Conversation {
  readonly #callbackQueries: CallbackQueries;
  readonly #texts: Texts;
  readonly #seen: Recent<number, true>;
  readonly #onFailure: (error: unknown) => void;

  constructor(chat: Chat, clock: Clock, onFailure: (error: unknown) => void) {
    this.#callbackQueries = new CallbackQueries(chat);
    this.#texts = new Texts(chat, clock);
    this.#seen = new Recent(clock, SEEN);
    this.#onFailure = onFailure;
  }

  /**
   * Resolves once the person's decision is recorded. Never rejects: if a tap fails, the person is asked to tap again, and
   * an update that always fails must not come back forever. False for an update seen before.
   */
  async handle(raw: unknown): Promise<boolean> {
    const id = updateId(raw);
    if (id === null || this.#seen.get(id)) return false;
    this.#seen.set(id, true);
    const update = parseUpdate(raw);
    if (!update) return true;
    try {
      await this.#act(update);
    } catch (error) {
      this.#onFailure(error);
      this.#sorry(update);
    }
    return true;
  }

  #act(update: Update): Promise<void> {
    return 'message' in update
      ? this.#texts.handle(update.message)
      : this.#callbackQueries.handle(update.callback_query);
  }

  #sorry(update: Update): void {
    if ('message' in update) this.#texts.sorry(update.message);
    else this.#callbackQueries.sorry(update.callback_query);
  }
}
