import type { Change } from '../../../kernel/context.ts';
import { deadline } from '../../../lib/deadline.ts';
import type { TaskAccess } from '../tables.ts';

/** Waits for changes that concern a task, as long as the task may be held. */
export class News {
  readonly #over = new AbortController();
  readonly #until: AbortSignal;
  #leave: () => void = () => undefined;
  #hasNews = false;
  #wake: () => void = () => undefined;

  private constructor({ site, holdMs }: TaskAccess) {
    this.#until = AbortSignal.any([site.signal, this.#over.signal, deadline(holdMs)]);
    this.#until.addEventListener('abort', () => this.#wake(), { once: true });
  }

  /** Null if this caller can't follow the project now. */
  static async of(
    access: TaskAccess,
    concerns: (change: Change | null) => boolean,
  ): Promise<News | null> {
    const news = new News(access);
    const { executor, caller } = access.site;
    try {
      news.#leave = await executor.follow(caller, {
        changed: (change) => {
          if (concerns(change)) news.#tell();
        },
        ended: () => news.#over.abort(),
      });
      return news;
    } catch {
      return null;
    }
  }

  /** False once it has been held for long enough. */
  async next(): Promise<boolean> {
    if (!this.#hasNews && !this.#until.aborted) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    const { aborted } = this.#until;
    this.#hasNews = false;
    return !aborted;
  }

  end(): void {
    this.#leave();
  }

  #tell(): void {
    this.#hasNews = true;
    this.#wake();
  }
}
