import { setTimeout as sleep } from 'node:timers/promises';
import { tokensOf } from '../helpers/outbox.ts';
import { visit } from '../helpers/page-visitor.ts';

/** A person who decides each request in the outbox: says no where it says "deny this", nothing where "leave open". */
export class Decider {
  readonly #dataFolder: string;
  readonly #base: string;
  readonly #seen = new Set<string>();
  #isOver = false;
  readonly #work: Promise<void>;

  constructor(dataFolder: string, base: string) {
    this.#dataFolder = dataFolder;
    this.#base = base;
    this.#work = this.#decide();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#work;
  }

  async #decide(): Promise<void> {
    while (!this.#isOver) {
      for (const token of tokensOf(this.#dataFolder, 'a')) {
        if (this.#seen.has(token) || this.#isOver) continue;
        // The server may be away just now.
        const link = `${this.#base}/a/${token}`;
        const isDecided = await this.#decideOne(link).catch(() => false);
        if (isDecided) this.#seen.add(token);
      }
      await sleep(50);
    }
  }

  async #decideOne(link: string): Promise<boolean> {
    const answer = await fetch(link);
    const page = await answer.text();
    if (!answer.ok) return false;
    if (page.includes('leave open')) return true;
    const button = page.includes('deny this') ? 'Deny' : 'Approve';
    if (page.includes(`>${button}<`)) await visit(link, { button });
    return true;
  }
}
