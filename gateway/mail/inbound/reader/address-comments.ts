interface Piece {
  readonly kind: 'text' | 'comment' | 'separator';
  readonly text: string;
}

/** Of a comment only the words are left: the parser would end it at the first parenthesis within. */
const NOT_WORDS = /[()\\]/g;

/**
 * A field of addresses without the comments within them (RFC 5322 section 3.2.2), which the parser would leave in the
 * address. Before and behind an address a comment stays, as it may be a name. Takes a time in proportion to the field.
 */
export function withoutInnerComments(field: string): string {
  if (!field.includes('(')) return field;
  const pieces = new Splitter().split(field);
  // A comment that doesn't end is none.
  if (pieces === null) return field;
  const kept: string[] = [];
  let dropped = false;
  for (const [index, { kind, text }] of pieces.entries()) {
    if (kind !== 'comment') {
      kept.push(...(dropped ? joined(kept.pop() ?? '', text) : [text]));
      dropped = false;
    } else if (isAtEdge(pieces, index)) {
      kept.push(` (${text.replaceAll(NOT_WORDS, ' ').trim()}) `);
    } else dropped = true;
  }
  return kept.join('');
}

/** What stood on both sides of a comment. Beside `@` and `.` it separates nothing. */
function joined(before: string, after: string): string[] {
  const [left, right] = [before.trimEnd(), after.trimStart()];
  const isOneWord = /^[@.]/.test(right) || left.endsWith('@') || left.endsWith('.');
  return isOneWord ? [left, right] : [left, ' ', right];
}

/** Whether an address stands on one side of a comment, and on the other nothing of it. */
function isAtEdge(pieces: readonly Piece[], index: number): boolean {
  const [before, after] = [pieces[index - 1], pieces[index + 1]];
  return (before?.kind === 'text') !== (after?.kind === 'text');
}

class Splitter {
  readonly #pieces: Piece[] = [];
  #text = '';
  #comment = '';
  #depth = 0;
  #inQuotes = false;
  #inAngles = false;
  #isEscaped = false;

  /** Null where a comment has no end. */
  split(field: string): readonly Piece[] | null {
    for (const character of field) this.#take(character);
    this.#endText();
    return this.#depth > 0 ? null : this.#pieces;
  }

  #take(character: string): void {
    const isVerbatim = this.#isEscaped;
    const mayEscape = this.#depth > 0 || this.#inQuotes;
    this.#isEscaped = !isVerbatim && mayEscape && character === '\\';
    if (isVerbatim || this.#isEscaped) this.#add(character);
    else if (this.#depth > 0) this.#inComment(character);
    else if (character === '"') this.#quote();
    else if (this.#inQuotes) this.#add(character);
    else this.#outside(character);
  }

  #quote(): void {
    this.#inQuotes = !this.#inQuotes;
    this.#add('"');
  }

  #inComment(character: string): void {
    if (character === '(') this.#depth += 1;
    if (character === ')') this.#depth -= 1;
    if (this.#depth > 0) this.#add(character);
    else this.#endComment();
  }

  #outside(character: string): void {
    if (character === '(') {
      this.#endText();
      this.#depth = 1;
      return;
    }
    if (!this.#inAngles && /[,;:]/.test(character)) {
      this.#endText();
      this.#pieces.push({ kind: 'separator', text: character });
      return;
    }
    if (character === '<') this.#inAngles = true;
    if (character === '>') this.#inAngles = false;
    this.#add(character);
  }

  #add(character: string): void {
    if (this.#depth > 0) this.#comment += character;
    else this.#text += character;
  }

  #endText(): void {
    if (this.#text.trim() !== '') this.#pieces.push({ kind: 'text', text: this.#text });
    this.#text = '';
  }

  /** Comments in a row are one. */
  #endComment(): void {
    const text = this.#comment;
    this.#comment = '';
    const last = this.#pieces.at(-1);
    if (last?.kind !== 'comment') {
      this.#pieces.push({ kind: 'comment', text });
      return;
    }
    this.#pieces.splice(-1, 1, { kind: 'comment', text: `${last.text} ${text}` });
  }
}
