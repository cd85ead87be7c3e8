/** A value in a JSON text with comments, and where it is. */
export interface JsonNode {
  readonly start: number;
  readonly end: number;
  readonly value: unknown;
  /** An object's members in order; null for any other value. */
  readonly members: readonly JsonMember[] | null;
  /** A list's items in order; null for any other value. */
  readonly items: readonly JsonPart[] | null;
}

/** A value in an object or a list. */
export interface JsonPart {
  readonly start: number;
  readonly node: JsonNode;
  /** The position of the comma after the value, if there's one. */
  readonly comma: number | null;
}

export interface JsonMember extends JsonPart {
  readonly key: string;
}

/** Parses JSON that may have comments and trailing commas, as editors allow. Throws SyntaxError. */
export function scanJson(text: string): JsonNode {
  return new Scanner(text).document();
}

const GAP = /(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*/y;
const STRING = /"(?:\\[^\n]|[^"\\\n])*"/y;
const WORD = /[^\s,:[\]{}"/]+/y;

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    if (text.startsWith('\ufeff')) this.#at = 1;
  }

  document(): JsonNode {
    this.#match(GAP);
    const root = this.#value();
    this.#match(GAP);
    if (this.#at < this.#text.length) throw this.#failure();
    return root;
  }

  #value(): JsonNode {
    const start = this.#at;
    const char = this.#text[start];
    if (char === '{') return this.#object(start);
    if (char === '[') return this.#array(start);
    const value = this.#parsed(this.#match(char === '"' ? STRING : WORD));
    return { start, end: this.#at, value, members: null, items: null };
  }

  #object(start: number): JsonNode {
    const members: JsonMember[] = [];
    this.#each('}', () => {
      const from = this.#at;
      const key = String(this.#parsed(this.#match(STRING)));
      this.#match(GAP);
      this.#take(':');
      this.#match(GAP);
      const node = this.#value();
      return (comma) => members.push({ key, start: from, node, comma });
    });
    const value = Object.fromEntries(members.map(({ key, node }) => [key, node.value]));
    return { start, end: this.#at, value, members, items: null };
  }

  #array(start: number): JsonNode {
    const items: JsonPart[] = [];
    this.#each(']', () => {
      const from = this.#at;
      const node = this.#value();
      return (comma) => items.push({ start: from, node, comma });
    });
    const value = items.map(({ node }) => node.value);
    return { start, end: this.#at, value, members: null, items };
  }

  /** Reads what the brackets contain, each with the comma after it. */
  #each(close: string, read: () => (comma: number | null) => unknown): void {
    this.#at += 1;
    this.#match(GAP);
    while (this.#text[this.#at] !== close) {
      const done = read();
      this.#match(GAP);
      const hasComma = this.#text[this.#at] === ',';
      done(hasComma ? this.#at : null);
      if (hasComma) this.#at += 1;
      else if (this.#text[this.#at] !== close) throw this.#failure();
      this.#match(GAP);
    }
    this.#at += 1;
  }

  #parsed(json: string | null): unknown {
    try {
      return JSON.parse(json ?? '');
    } catch {
      throw this.#failure();
    }
  }

  #take(char: string): void {
    if (this.#text[this.#at] !== char) throw this.#failure();
    this.#at += 1;
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? null;
    if (found !== null) this.#at += found.length;
    return found;
  }

  #failure(): SyntaxError {
    const line = this.#text.slice(0, this.#at).split('\n').length;
    return new SyntaxError(`Line ${line} isn't valid.`);
  }
}
