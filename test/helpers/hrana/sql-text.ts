/** A placeholder for a value: its position, and the number of its value, from 1. */
export interface Parameter {
  readonly start: number;
  readonly end: number;
  readonly index: number;
  /** With its sign; null for a bare `?`. */
  readonly name: string | null;
}

export interface SqlStatement {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
  /** It takes the database's write lock. */
  readonly writes: boolean;
  /** The first word, in upper case. */
  readonly verb: string;
}

/** Doubled quotes are two strings one after the other, which does no harm here. */
const TOKEN =
  /\s+|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|\?\d*|[:@$][\w$]+|;|[A-Za-z_][\w$]*|[\s\S]/g;
const READS = new Set(['SELECT', 'VALUES', 'EXPLAIN']);
const CONTROLS = new Set(['COMMIT', 'END', 'ROLLBACK', 'SAVEPOINT', 'RELEASE', 'ATTACH', 'DETACH']);
/** Of the pragmas, those that are kept in the file. */
const STORED = new Set(['USER_VERSION', 'APPLICATION_ID']);
const CHANGE = /\b(?:INSERT|UPDATE|DELETE|REPLACE INTO)\b/;

/** The same few texts come again and again. */
const TEXTS_MAX = 1000;
const scanned = new Map<string, readonly SqlStatement[]>();

/** The statements of a text, as far as needed to bind values and to know who needs the write lock. */
export function statementsOf(text: string): readonly SqlStatement[] {
  const known = scanned.get(text);
  if (known) return known;
  const found = scan(text);
  if (scanned.size < TEXTS_MAX) scanned.set(text, found);
  return found;
}

function scan(text: string): SqlStatement[] {
  const found: SqlStatement[] = [];
  let one = new Scanned();
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === ';' && one.mayEnd) {
      one.endInto(found);
      one = new Scanned();
    } else {
      one.add(token);
    }
  }
  one.endInto(found);
  return found;
}

class Scanned {
  #sql = '';
  /** Of the body of a trigger. */
  #depth = 0;
  #highest = 0;
  readonly #words: string[] = [];
  readonly #parameters: Parameter[] = [];
  readonly #known = new Map<string, number>();

  /** A trigger contains statements. */
  get mayEnd(): boolean {
    return this.#depth === 0;
  }

  add(token: string): void {
    const start = this.#sql.length;
    // Nothing before the first word counts, so that the text begins with it.
    if (start === 0 && /^(?:\s|--|\/\*)/.test(token)) return;
    this.#sql += token;
    if (/^(?:\?|[:@$].)/.test(token)) this.#addParameter(token, start);
    else if (/^[A-Za-z_]/.test(token)) this.#addWord(token.toUpperCase());
  }

  endInto(found: SqlStatement[]): void {
    const sql = this.#sql.trimEnd();
    const [verb = ''] = this.#words;
    if (sql === '') return;
    found.push({ sql, parameters: this.#parameters, writes: this.#writes(verb), verb });
  }

  #addWord(word: string): void {
    this.#words.push(word);
    const isTrigger = this.#words[0] === 'CREATE' && this.#words.includes('TRIGGER');
    if (!isTrigger) return;
    if (word === 'BEGIN' || word === 'CASE') this.#depth += 1;
    else if (word === 'END') this.#depth -= 1;
  }

  #addParameter(token: string, start: number): void {
    const name = token === '?' ? null : token;
    const number = token.startsWith('?') && name ? Number(token.slice(1)) : undefined;
    const index = number ?? this.#known.get(name ?? '') ?? this.#highest + 1;
    if (name) this.#known.set(name, index);
    this.#highest = Math.max(this.#highest, index);
    this.#parameters.push({ start, end: start + token.length, index, name });
  }

  #writes(verb: string): boolean {
    const words = this.#words;
    if (verb === 'BEGIN') return words.includes('IMMEDIATE') || words.includes('EXCLUSIVE');
    if (verb === 'WITH') return CHANGE.test(words.join(' '));
    if (verb === 'PRAGMA') return STORED.has(words[1] ?? '') && this.#sql.includes('=');
    return !READS.has(verb) && !CONTROLS.has(verb);
  }
}
