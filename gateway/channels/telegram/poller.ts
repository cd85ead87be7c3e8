import { backoffMs, pause, type Pauses } from '../../lib/backoff.ts';
import type { BotApi } from './bot-api.ts';
import { TelegramFailure } from './failure.ts';
import { updateId } from './update.ts';

const POLL_SECONDS = 30;
/** The shortest time between polls that bring nothing new, whatever the other side does. */
const EMPTY_MIN_MS = 1000;
const CONFIRM_MAX_MS = 1000;

interface PollerDeps {
  readonly api: BotApi;
  /** Never rejects. False for an update that isn't new. */
  readonly handle: (update: unknown) => Promise<boolean>;
  readonly onFailure: (failure: unknown) => void;
  readonly onSuccess: () => void;
  readonly pauses: Pauses;
}

/**
 * Fetches updates from Telegram with long polls. The library's own loop gives up forever after a conflict, can't be
 * stopped while it sleeps, and always waits the same time.
 */
export class Poller {
  readonly #deps: PollerDeps;
  #offset: number | null = null;
  /** The offset confirmed to Telegram. */
  #confirmed: number | null = null;

  constructor(deps: PollerDeps) {
    this.#deps = deps;
  }

  /** Runs until it's aborted. */
  async run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const startedAt = performance.now();
      try {
        const hasNews = await this.#poll(signal);
        failures = 0;
        this.#deps.onSuccess();
        const left = EMPTY_MIN_MS - (performance.now() - startedAt);
        if (!hasNews && left > 0) await pause(left, signal);
      } catch (error) {
        if (signal.aborted) break;
        failures += 1;
        this.#deps.onFailure(error);
        await pause(Math.max(askedMs(error), backoffMs(failures, this.#deps.pauses)), signal);
      }
    }
    await this.#confirm();
  }

  async #poll(signal: AbortSignal): Promise<boolean> {
    const asked = this.#offset;
    const updates = await this.#deps.api.updates(asked, POLL_SECONDS, signal);
    this.#confirmed = asked;
    let hasNews = false;
    for (const update of updates) {
      if (await this.#deps.handle(update)) hasNews = true;
      // Use the last number, not the highest: after a quiet week, Telegram starts at another number.
      const id = updateId(update);
      if (id !== null) this.#offset = id + 1;
    }
    return hasNews;
  }

  /** Confirms the last handled update, so that it doesn't come again after a restart. */
  async #confirm(): Promise<void> {
    if (this.#offset === null || this.#offset === this.#confirmed) return;
    await this.#deps.api.confirm(this.#offset, CONFIRM_MAX_MS).catch(() => undefined);
  }
}

function askedMs(error: unknown): number {
  return error instanceof TelegramFailure ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
}
