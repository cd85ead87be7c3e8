/** Takes over who the members are, one run after the other: the last to write must have read the newest. */
export class MemberFollower {
  readonly #follow: () => Promise<void>;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(follow: () => Promise<void>) {
    this.#follow = follow;
  }

  async run(): Promise<void> {
    this.#waiting += 1;
    const run = this.#last.then(() => this.#follow());
    this.#last = run.catch(() => undefined);
    try {
      await run;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** For an opening, which a crash or an import may have preceded; it may be our own, for a run under way. */
  async runOnce(): Promise<void> {
    if (this.#waiting === 0) await this.run();
  }
}
