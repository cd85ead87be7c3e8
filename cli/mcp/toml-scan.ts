/** A statement of a TOML document: a table header, or a key with its value. */
export interface TomlStatement {
  readonly kind: 'table' | 'tables' | 'value';
  /** The whole path, including the table that a key is in. */
  readonly path: readonly string[];
  /** The path of the statement's table; a header's own path. */
  readonly table: readonly string[];
  /** From the start of its first line to the end of its last. */
  readonly start: number;
  readonly end: number;
}

/** Returns a TOML document's statements in order, without parsing values. Throws SyntaxError for invalid TOML. */
export function scanToml(text: string): TomlStatement[] {
  const scanner = new Scanner(text);
  const statements: TomlStatement[] = [];
  let table: readonly string[] = [];
  while (scanner.toStatement()) {
    const start = scanner.lineStart();
    const header = scanner.header();
    if (header) {
      table = header.path;
      statements.push({ ...header, table, start, end: scanner.lineEnd() });
    } else {
      const path = [...table, ...scanner.assignment()];
      statements.push({ kind: 'value', path, table, start, end: scanner.lineEnd() });
    }
  }
  return statements;
}

const BARE_KEY = /[\w-]+/y;
const BLANK = /[ \t]*/y;
const GAP = /(?:[ \t\r\n]|#[^\n]*)*/y;
/** Strings in all four forms. The long forms come first because the short ones also match their quotes. */
const STRING = /"""(?:\\[^]|[^\\])*?"{3,5}|'''[^]*?'{3,5}|"(?:\\[^\r\n]|[^"\\\r\n])*"|'[^'\r\n]*'/y;
const LINE_REST = /[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y;

const SCALAR = /[^\s"'[\]{}#,=][^"'[\]{}#,=\r\n]*/y;
/** What brackets may contain besides strings and more brackets. */
const INSIDE = /[^\s"'[\]{}#]+/y;

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    if (text.startsWith('\ufeff')) this.#at = 1;
  }

  /** Moves to the next statement; false at the end. */
  toStatement(): boolean {
    this.#match(GAP);
    return this.#at < this.#text.length;
  }

  lineStart(): number {
    return this.#text.lastIndexOf('\n', this.#at - 1) + 1;
  }

  /** Only a comment may follow on the line. */
  lineEnd(): number {
    if (this.#match(LINE_REST) === null) throw this.#failure();
    return this.#at;
  }

  header(): { kind: 'table' | 'tables'; path: readonly string[] } | null {
    if (this.#text[this.#at] !== '[') return null;
    const kind = this.#text[this.#at + 1] === '[' ? 'tables' : 'table';
    const brackets = kind === 'tables' ? 2 : 1;
    this.#at += brackets;
    const path = this.#keys();
    if (!this.#text.startsWith(']'.repeat(brackets), this.#at)) throw this.#failure();
    this.#at += brackets;
    return { kind, path };
  }

  /** Returns the keys before the `=` and moves past the value. */
  assignment(): readonly string[] {
    const keys = this.#keys();
    if (this.#text[this.#at] !== '=') throw this.#failure();
    this.#at += 1;
    this.#skipValue();
    return keys;
  }

  #keys(): string[] {
    const keys: string[] = [];
    do {
      if (keys.length > 0) this.#at += 1;
      this.#match(BLANK);
      keys.push(this.#key());
      this.#match(BLANK);
    } while (this.#text[this.#at] === '.');
    return keys;
  }

  #key(): string {
    const bare = this.#match(BARE_KEY);
    if (bare !== null) return bare;
    const quoted = this.#match(STRING);
    if (quoted === null) throw this.#failure();
    // Escapes in a key don't matter, because callers only look for plain names.
    return quoted.slice(1, -1);
  }

  /** A string, a word such as a number or a time, or brackets, which may span lines. */
  #skipValue(): void {
    this.#match(BLANK);
    if (this.#match(STRING) !== null || this.#match(SCALAR) !== null) return;
    let depth = this.#bracket();
    while (depth > 0) {
      this.#match(GAP);
      if (this.#match(STRING) === null && this.#match(INSIDE) === null) depth += this.#bracket();
    }
    if (depth < 0) throw this.#failure();
  }

  /** Moves past one bracket; 1 if it opens, -1 if it closes. */
  #bracket(): 1 | -1 {
    const char = this.#text[this.#at] ?? '';
    this.#at += 1;
    if (char === '[' || char === '{') return 1;
    if (char === ']' || char === '}') return -1;
    throw this.#failure();
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
