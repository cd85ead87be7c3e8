import { setTimeout as sleep } from 'node:timers/promises';

export interface Notification {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

const PATIENCE_MS = 60_000;

/** Reads what a subscription tells. */
export class Listener {
  readonly #leaving: AbortController;
  readonly #heard: Notification[] = [];
  readonly #comments: string[] = [];
  readonly #ended: Promise<void>;
  #isOver = false;

  constructor(response: Response, leaving: AbortController) {
    this.#leaving = leaving;
    this.#ended = this.#read(response).finally(() => (this.#isOver = true));
    this.#ended.catch(() => undefined);
  }

  /** All that came, the acknowledgement first. */
  get heard(): readonly Notification[] {
    return this.#heard;
  }

  get comments(): number {
    return this.#comments.length;
  }

  /** Resolves when one more has come than `seen`. */
  async next(seen = 0): Promise<Notification> {
    const endsAt = performance.now() + PATIENCE_MS;
    for (;;) {
      const found = this.#heard[seen];
      if (found) return found;
      if (this.#isOver || performance.now() > endsAt) throw new Error('Nothing more came.');
      await sleep(5);
    }
  }

  /** Resolves when the server has ended the stream. */
  async over(): Promise<readonly Notification[]> {
    await this.#ended;
    return this.#heard;
  }

  async leave(): Promise<void> {
    this.#leaving.abort();
    await this.#ended.catch(() => undefined);
  }

  async #read(response: Response): Promise<void> {
    let rest = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) this.#take(part);
    }
  }

  #take(part: string): void {
    const data = part.split('\n').find((line) => line.startsWith('data: '));
    if (data) this.#heard.push(JSON.parse(data.slice('data: '.length)) as Notification);
    else this.#comments.push(part);
  }
}
