// A person bases a decision on the agent's text. Nothing in it may be invisible, reorder the text around it, or look
// like something else, so this module finds such characters and the page can show what they are.

/**
 * How to read a text. `prose` has lines; `line` is one line; `exact` is a name or number where each character matters;
 * `code` is an indented line where each character matters.
 */
export type TextKind = 'prose' | 'line' | 'exact' | 'code';

/**
 * A piece of a text: `hidden` names a character that can't be seen; `lookalike` may be mistaken for another character.
 */
export interface Piece {
  readonly kind: 'plain' | 'hidden' | 'lookalike';
  readonly text: string;
}

interface Rules {
  readonly breaks: boolean;
  /** Longer runs of blanks appear as their count. */
  readonly blanksMax: number;
  /** Whether to mark everything except ASCII. */
  readonly ascii: boolean;
}

const RULES: Readonly<Record<TextKind, Rules>> = {
  prose: { breaks: true, blanksMax: 20, ascii: false },
  line: { breaks: false, blanksMax: 3, ascii: false },
  exact: { breaks: false, blanksMax: 1, ascii: true },
  code: { breaks: false, blanksMax: 20, ascii: true },
};

/** Control and format characters, characters without a glyph, and characters that only programs interpret. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;
const HIDDEN_IN_JSON = new RegExp(`(?![\\n\\r\\t])${UNSEEN.source}`, 'gu');
const BLANK = /\p{Zs}/u;
const MARK = /\p{M}/u;
/** More marks than this on one letter would overlap the lines around it. */
const MARKS_MAX = 4;
const VARIATION = /[\ufe0e\ufe0f]/;
const EMOJI = /\p{Emoji}/u;
const PICTURE = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]/u;
const JOINER = /[\u200c\u200d]/;
/** Scripts in which a joiner between two letters is part of the spelling. */
const JOINED =
  /[\p{scx=Arab}\p{scx=Syrc}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}\p{scx=Khmr}\p{scx=Mymr}]/u;

const ASCII = /^[\u0020-\u007e]$/;
const LETTER = /[\p{L}\p{M}]/u;
const LATIN = /\p{Script=Latin}/u;
/** Alphabets with letters that look like Latin ones. */
const NEAR_LATIN =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/u;
const LETTER_OR_DIGIT = /[\p{L}\p{Nd}]/u;
/** The ordinal signs ª and º, which Unicode counts as letters. */
const ORDINAL = /[\u00aa\u00ba]/;
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

const MANY_BREAKS = /\n(?:[^\S\n]*\n){3,}/.source;

/** Splits a text into plain pieces and pieces that need a mark. */
export function pieces(text: string, reading: TextKind): readonly Piece[] {
  const rules = RULES[reading];
  const found = new Pieces();
  for (const token of tokens(text, rules, reading === 'exact')) {
    if (token.name === undefined) scan(token.text, rules, found);
    else found.addHidden(token.name);
  }
  return found.list();
}

/** The same in one string, for places without markup. */
export function plainLine(text: string): string {
  return pieces(text, 'line')
    .map((piece) => (piece.kind === 'hidden' ? `[${piece.text}]` : piece.text))
    .join('');
}

/** The same for a field that a person edits: only what nobody can see is named. */
export function plainText(text: string): string {
  return pieces(text, 'prose')
    .map((piece) => (piece.kind === 'hidden' ? `[${piece.text}]` : piece.text))
    .join('');
}

/** The same for JSON, which means the same afterwards. */
export function plainJson(text: string): string {
  return text.replaceAll(HIDDEN_IN_JSON, (unseen) =>
    Array.from({ length: unseen.length }, (_, at) => {
      const unit = unseen.charCodeAt(at).toString(16).padStart(4, '0');
      return `\\u${unit}`;
    }).join(''),
  );
}

/** What a reader should know about texts before trusting their eyes. */
export interface Cautions {
  readonly hidden: boolean;
  readonly lookalike: boolean;
  /** A text contains both writing directions, so characters may appear in a different order than they were written. */
  readonly directions: boolean;
}

export function cautionsOf(texts: readonly (readonly [string, TextKind])[]): Cautions {
  const all = texts.flatMap(([text, reading]) => pieces(text, reading));
  return {
    hidden: all.some(({ kind }) => kind === 'hidden'),
    lookalike: all.some(({ kind }) => kind === 'lookalike'),
    directions: texts.some(([text]) => RIGHT_TO_LEFT.test(text) && /[A-Za-z0-9]/.test(text)),
  };
}

/**
 * Collects pieces and joins neighbours of the same kind. A run of hidden characters becomes one piece that names a few
 * of them.
 */
class Pieces {
  readonly #list: Piece[] = [];
  #hidden: string[] = [];

  add(kind: 'plain' | 'lookalike', text: string): void {
    this.#close();
    const last = this.#list.at(-1);
    if (last?.kind === kind) this.#list[this.#list.length - 1] = { kind, text: last.text + text };
    else this.#list.push({ kind, text });
  }

  addHidden(name: string): void {
    this.#hidden.push(name);
  }

  list(): readonly Piece[] {
    this.#close();
    return this.#list;
  }

  #close(): void {
    if (this.#hidden.length === 0) return;
    const names = [...new Set(this.#hidden)];
    const named = names.slice(0, NAMED_MAX).join(' ');
    const times = names.length === 1 && this.#hidden.length > 1 ? ` × ${this.#hidden.length}` : '';
    const more = names.length > NAMED_MAX ? ` and ${this.#hidden.length - NAMED_MAX} more` : '';
    this.#hidden = [];
    this.#list.push({ kind: 'hidden', text: named + times + more });
  }
}

const NAMED_MAX = 3;

interface Token {
  readonly text: string;
  /** The text to show for the whole token, if its characters aren't examined one by one. */
  readonly name?: string;
}

function* tokens(text: string, rules: Rules, edges: boolean): Generator<Token> {
  const blanks = `\\p{Zs}{${rules.blanksMax + 1},}`;
  const atEdges = edges ? '|^\\p{Zs}|\\p{Zs}$' : '';
  const breaks = rules.breaks ? `|${MANY_BREAKS}` : '';
  const special = new RegExp(`${blanks}${atEdges}${breaks}`, 'gu');
  const clean = rules.breaks ? text.replaceAll(/\r\n?/g, '\n') : text;
  let from = 0;
  for (const match of clean.matchAll(special)) {
    const [stretch] = match;
    yield { text: clean.slice(from, match.index) };
    if (stretch.startsWith('\n')) {
      yield { text: '\n' };
      yield { text: stretch, name: `${stretch.split('\n').length - 2} empty lines` };
      yield { text: '\n' };
    } else {
      yield { text: stretch, name: stretch.length === 1 ? 'space' : `${stretch.length} spaces` };
    }
    from = match.index + stretch.length;
  }
  yield { text: clean.slice(from) };
}

function scan(text: string, rules: Rules, found: Pieces): void {
  const characters = Array.from(text);
  const mixed = rules.ascii ? null : mixedWords(characters);
  let marks = 0;
  for (const [index, character] of characters.entries()) {
    if (ASCII.test(character)) {
      marks = 0;
      found.add('plain', character);
      continue;
    }
    marks = MARK.test(character) ? marks + 1 : 0;
    const unseen = isUnseen(characters, index, rules) || marks > MARKS_MAX;
    if (unseen) found.addHidden(nameOf(character));
    else found.add(isLookalike(character, index, mixed) ? 'lookalike' : 'plain', character);
  }
}

function isUnseen(characters: readonly string[], index: number, rules: Rules): boolean {
  const character = characters[index] ?? '';
  if (character === '\n' || character === '\t') return !rules.breaks;
  if (rules.ascii) return UNSEEN.test(character) || BLANK.test(character);
  return UNSEEN.test(character) && !isSpelling(characters, index);
}

/** Whether an invisible character is part of the spelling of an emoji or a word. */
function isSpelling(characters: readonly string[], index: number): boolean {
  const character = characters[index] ?? '';
  const before = characters[index - 1] ?? '';
  const after = characters[index + 1] ?? '';
  if (VARIATION.test(character)) return EMOJI.test(before);
  if (!JOINER.test(character)) return false;
  const inPicture = character === '\u200d' && PICTURE.test(before) && PICTURE.test(after);
  return inPicture || [before, after].every((next) => LETTER.test(next) && JOINED.test(next));
}

/**
 * `mixed` is null if everything except ASCII gets a mark; otherwise it has the positions of suspicious letters in mixed
 * words.
 */
function isLookalike(character: string, index: number, mixed: ReadonlySet<number> | null): boolean {
  if (character === '\n' || character === '\t') return false;
  if (mixed === null || mixed.has(index)) return true;
  if (!LETTER_OR_DIGIT.test(character) || ORDINAL.test(character)) return false;
  return ASCII.test(character.normalize('NFKC'));
}

/** The positions of letters from near-Latin alphabets in words that also have Latin letters. */
function mixedWords(characters: readonly string[]): ReadonlySet<number> {
  const places = new Set<number>();
  let near: number[] = [];
  let latin = false;
  for (const [index, character] of [...characters, ' '].entries()) {
    if (LETTER.test(character)) {
      latin ||= LATIN.test(character);
      if (NEAR_LATIN.test(character)) near.push(index);
      continue;
    }
    if (latin) for (const place of near) places.add(place);
    near = [];
    latin = false;
  }
  return places;
}

function nameOf(character: string): string {
  if (character === '\n') return 'line break';
  if (character === '\t') return 'tab';
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Where to fold a long text: after this many characters, or lines on a phone. */
const OPEN_CHARACTERS = 420;
const OPEN_LINES = 10;
const LINE_CHARACTERS = 42;
/** Fold only if at least this much would be hidden. */
const FOLDED_MIN = 160;
/** Cut a longer run without blanks anywhere. */
const LONGEST_WORD = 80;

/** The beginning of a long text, and the rest if it is worth folding. Cuts between words if possible. */
export function fold(text: string): { readonly open: string; readonly folded: string } {
  const clean = text.replaceAll(/\r\n?/g, '\n');
  const cut = openLength(clean);
  const rest = clean.slice(cut);
  if (rest.length < FOLDED_MIN && rest.split('\n').length < OPEN_LINES / 2) {
    return { open: clean, folded: '' };
  }
  return { open: clean.slice(0, cut), folded: rest };
}

/** Empty lines don't count: they appear as their number, so they can't push words out of sight. */
function openLength(text: string): number {
  let lines = 0;
  let characters = 0;
  let end = 0;
  for (const line of text.split('\n')) {
    if (lines >= OPEN_LINES) return end;
    const words = line.trim().length;
    if (characters + words > OPEN_CHARACTERS) {
      return betweenWords(text, end + OPEN_CHARACTERS - characters);
    }
    if (words > 0) lines += 1 + Math.floor(words / LINE_CHARACTERS);
    characters += words;
    end += line.length + 1;
  }
  return text.length;
}

function betweenWords(text: string, wanted: number): number {
  const from = Math.max(0, wanted - LONGEST_WORD);
  const blank = text.slice(from, wanted).search(/\s\S*$/);
  if (blank !== -1) return from + blank + 1;
  const code = text.charCodeAt(wanted);
  // Don't split a surrogate pair.
  return code >= 0xdc00 && code <= 0xdfff ? wanted + 1 : wanted;
}
