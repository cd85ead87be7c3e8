/** A pattern in parts: a whole text, or its fixed start or end. */
interface Pattern {
  readonly fixed: string;
  /** Other characters may come before or after the fixed part. */
  readonly open: boolean;
}

/**
 * Finds the rules with a pattern that matches a text. It looks up the text and its prefixes (or suffixes), so the
 * number of patterns doesn't affect the time.
 */
export class PatternIndex {
  readonly #rules: number;
  readonly #part: (text: string, length: number) => string;
  readonly #whole = new Map<string, number[]>();
  readonly #open = new Map<string, number[]>();
  readonly #openLengths = new Set<number>();

  /** `part` returns the start or the end of a text with this length: the side on which patterns are fixed. */
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

  /** 1 at the index of each rule that matches the text; null if none does. */
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
