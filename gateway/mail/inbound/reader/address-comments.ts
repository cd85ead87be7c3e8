interface Piece {
  readonly kind: 'text' | 'comment' | 'separator';
  readonly text: string;
}

/** Only the words of a comment stay: the parser would end it at the first parenthesis inside. */
const NOT_WORDS = /[()\\]/g;

/**
 * Removes comments inside addresses (RFC 5322 section 3.2.2), which the parser would leave there. Comments before and
 * after an address stay, because they may be names. Takes linear time.
 */
export function withoutInnerComments(field: string): string {
  if (!field.includes('(')) return field;
  const pieces = new Splitter().split(field);
  // An unclosed comment isn't a comment.
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

/** Joins the text on both sides of a comment, without a blank next to `@` or `.`. */
function joined(before: string, after: string): string[] {
  const [left, right] = [before.trimEnd(), after.trimStart()];
  const isOneWord = /^[@.]/.test(right) || left.endsWith('@') || left.endsWith('.');
  return isOneWord ? [left, right] : [left, ' ', right];
}

/** Whether a comment has address text on one side only. */
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

  /** Null if a comment is unclosed. */
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

  /** Adjacent comments become one. */
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
