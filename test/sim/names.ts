const ID = /^(evt|lse|req|key|chn|rte|dlv)_[0-9a-z]{26}$/;
const ID_IN_TEXT = /\b(?:evt|lse|req|key|chn)_[0-9a-z]{26}\b/g;

const NOTHING = '0'.repeat(26);

/** Names in place of ids, which are random: the first of a kind that is met is `evt#0`, `req#0`, … */
export class Names {
  readonly #names = new Map<string, string>();
  readonly #ids = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  give(id: string, name: string): void {
    this.#names.set(id, name);
    this.#ids.set(name, id);
  }

  /** The id behind a name; undefined for one that nothing has. */
  find(name: string): string | undefined {
    return this.#ids.get(name);
  }

  /** The id behind a name, or one of this kind that nothing has. */
  idOf(name: string, kind: string): string {
    return this.#ids.get(name) ?? `${kind}_${NOTHING}`;
  }

  has(id: string): boolean {
    return this.#names.has(id);
  }

  of(id: string): string {
    if (id.endsWith(NOTHING)) return 'none';
    const known = this.#names.get(id);
    if (known !== undefined) return known;
    const kind = id.slice(0, 3);
    const nth = this.#counts.get(kind) ?? 0;
    this.#counts.set(kind, nth + 1);
    this.give(id, `${kind}#${nth}`);
    return `${kind}#${nth}`;
  }

  /** The same with names for all ids, in lists and within texts as well. */
  in(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((one) => this.in(one));
    if (typeof value !== 'string') return value;
    return ID.test(value) ? this.of(value) : value.replaceAll(ID_IN_TEXT, (id) => this.of(id));
  }

  /** Names of ids, or names, in their order. */
  sorted(list: unknown): string[] {
    return (this.in(list) as string[]).toSorted();
  }
}
