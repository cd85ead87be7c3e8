/** A pattern taken apart: a whole text, or the end of it that stays fixed. */
interface Pattern {
  readonly fixed: string;
  /** More may stand on the other side of what is fixed. */
  readonly open: boolean;
}

/**
 * Which rules have a pattern that matches a text. The text and its beginnings (or ends) are looked up, so that the number
 * of patterns does not count.
 */
export class PatternIndex {
  readonly #rules: number;
  readonly #part: (text: string, length: number) => string;
  readonly #whole = new Map<string, number[]>();
  readonly #open = new Map<string, number[]>();
  readonly #openLengths = new Set<number>();

  /** `part` gives the beginning or the end of a text with this length: the side on which patterns are fixed. */
  constructor(rules: number, part: (text: string, length: number) => string) {
    this.#rules = rules;
    this.#part = part;
  }

  add(rule: number, { fixed, open }: Pattern): void {
    const map = open ? this.#open : this.#whole;
    const rules = map.get(fixed);
    if (rules === undefined) map.set(fixed, [rule]);
    else rules.push(rule);
    if (open) this.#openLengths.add(fixed.length);
  }

  /** 1 at the place of each rule that matches the text; null when none does. */
  hits(text: string): Uint8Array | null {
    const found = [this.#whole.get(text)];
    for (const length of this.#openLengths) {
      if (length <= text.length) found.push(this.#open.get(this.#part(text, length)));
    }
    let hits: Uint8Array | null = null;
    for (const rules of found) {
      if (rules === undefined) continue;
      hits ??= new Uint8Array(this.#rules);
      for (const rule of rules) hits[rule] = 1;
    }
    return hits;
  }
}
