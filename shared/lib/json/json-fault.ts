const SPACE = /[ \t\n\r]*/y;
// oxlint-disable no-control-regex -- JSON has none in its texts
const PLAIN =
  /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|"[^"\\\u0000-\u001F]*(?:\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})[^"\\\u0000-\u001F]*)*"/y;

// oxlint-enable no-control-regex

/** What may come next: a value, the first value of a list or name of an object, what goes on after a value, the end. */
type Next = 'value' | 'first' | 'name' | 'colon' | 'more';

/** Where a text stops being JSON, as `line 1, column 5`; null if all of it is. */
export function jsonFault(text: string): string | null {
  const at = new Scan(text).end();
  if (at === null) return null;
  const lines = text.slice(0, at).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

class Scan {
  readonly #text: string;
  readonly #open: string[] = [];
  #at = 0;
  #next: Next = 'value';

  constructor(text: string) {
    this.#text = text;
  }

  /** Where it stops being JSON; null at the end of a whole value. */
  end(): number | null {
    for (;;) {
      this.#skip(SPACE);
      const isWhole = this.#next === 'more' && this.#open.length === 0;
      if (this.#at === this.#text.length) return isWhole ? null : this.#at;
      if (isWhole || !this.#take(this.#text.charAt(this.#at))) return this.#at;
    }
  }

  #take(mark: string): boolean {
    const inside = this.#open.at(-1);
    const mayClose = this.#next === 'first' || this.#next === 'more';
    if (mayClose && mark === inside) return this.#close();
    const isObject = inside === '}';
    switch (this.#next) {
      case 'more':
        return mark === ',' && this.#goTo(isObject ? 'name' : 'value');
      case 'colon':
        return mark === ':' && this.#goTo('value');
      case 'first':
        return this.#begin(isObject ? 'name' : 'value', mark);
      default:
        return this.#begin(this.#next, mark);
    }
  }

  #begin(what: 'name' | 'value', mark: string): boolean {
    return what === 'name' ? this.#name(mark) : this.#value(mark);
  }

  #name(mark: string): boolean {
    if (mark !== '"' || !this.#skip(PLAIN)) return false;
    this.#next = 'colon';
    return true;
  }

  #value(mark: string): boolean {
    if (mark === '{' || mark === '[') {
      this.#open.push(mark === '{' ? '}' : ']');
      return this.#goTo('first');
    }
    if (!this.#skip(PLAIN)) return false;
    this.#next = 'more';
    return true;
  }

  #close(): boolean {
    this.#open.pop();
    return this.#goTo('more');
  }

  #goTo(next: Next): true {
    this.#at += 1;
    this.#next = next;
    return true;
  }

  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }
}
