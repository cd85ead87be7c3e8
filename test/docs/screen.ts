/** How a piece of text looks: what the control sequences before it have set. */
export interface Style {
  readonly bold?: true;
  readonly dim?: true;
  /** 31 to 37, as in the sequence that set it. */
  readonly color?: number;
}

/** Text of one look. */
export interface Piece {
  readonly text: string;
  readonly style: Style;
}

interface Cell {
  readonly char: string;
  readonly style: Style;
}

const PLAIN: Style = {};
const ESCAPE = '\u001b';
// A control sequence, a carriage return, a line feed, or anything else.
// oxlint-disable-next-line no-control-regex -- control characters are what a terminal is about
const TOKENS = /\u001b\[([0-9;?]*)([A-Za-z])|\r|\n|[\s\S]/gu;

/**
 * What a terminal shows after these bytes: the sequences that svc sends (colours, clearing a line or all below, moving up)
 * are obeyed, all others are passed over. Lines are as wide as they were sent.
 */
export class Screen {
  readonly #lines: Cell[][] = [[]];
  #row = 0;
  #column = 0;
  #style: Style = PLAIN;

  write(text: string): this {
    for (const [token, numbers = '', letter] of text.matchAll(TOKENS)) {
      if (letter !== undefined) this.#control(letter, numbers);
      else if (token === '\n') this.#newLine();
      else if (token === '\r') this.#column = 0;
      else if (token !== ESCAPE) this.#put(token);
    }
    return this;
  }

  /** Its lines without looks, and without spaces at their ends; empty ones at the end left out. */
  text(): string[] {
    const lines = this.#lines.map((cells) => cells.map(({ char }) => char).join(''));
    return withoutEnd(
      lines.map((line) => line.trimEnd()),
      (line) => line === '',
    );
  }

  /** Its lines in pieces of one look each; empty ones at the end left out. */
  pieces(): Piece[][] {
    const lines = this.#lines.map((cells) => {
      const pieces: { text: string; style: Style }[] = [];
      for (const { char, style } of cells) {
        const last = pieces.at(-1);
        if (last?.style === style) last.text += char;
        else pieces.push({ text: char, style });
      }
      return pieces;
    });
    return withoutEnd(lines, (line) => line.every(({ text }) => text.trim() === ''));
  }

  #put(char: string): void {
    const line = this.#lines[this.#row] ?? [];
    while (line.length < this.#column) line.push({ char: ' ', style: PLAIN });
    line[this.#column] = { char, style: this.#style };
    this.#column += 1;
  }

  #newLine(): void {
    this.#row += 1;
    this.#column = 0;
    if (this.#lines.length === this.#row) this.#lines.push([]);
  }

  #control(letter: string, numbers: string): void {
    const first = Number(numbers.split(';')[0] ?? '') || 0;
    if (letter === 'm') this.#style = styled(this.#style, numbers);
    else if (letter === 'A') this.#row = Math.max(0, this.#row - Math.max(1, first));
    else if (letter === 'K' && first === 0) this.#lines[this.#row]?.splice(this.#column);
    else if (letter === 'K') this.#lines[this.#row]?.splice(0);
    else if (letter === 'J') this.#clearBelow();
  }

  #clearBelow(): void {
    this.#lines[this.#row]?.splice(this.#column);
    this.#lines.splice(this.#row + 1);
  }
}

function styled(before: Style, numbers: string): Style {
  let style = before;
  for (const number of numbers.split(';').map(Number)) {
    if (number === 0) style = PLAIN;
    else if (number === 1) style = { ...style, bold: true };
    else if (number === 2) style = { ...style, dim: true };
    else if (number > 30 && number < 38) style = { ...style, color: number };
  }
  return style;
}

function withoutEnd<T>(lines: T[], isEmpty: (line: T) => boolean): T[] {
  let count = lines.length;
  while (count > 0 && isEmpty(lines[count - 1] as T)) count -= 1;
  return lines.slice(0, count);
}
