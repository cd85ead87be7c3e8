const QUOTE_DEPTH_MAX = 10;

/** Builds a text from pieces as a browser would show them: several blanks in a row become one. */
export class TextLines {
  readonly #maxChars: number;
  #lines: string[] = [];
  #chars = 0;
  #line = '';
  /** Tracked separately: reading the end of a growing string would make V8 join its pieces each time. */
  #endsBlank = true;
  #depth = 0;
  #preformatted = false;
  #link: { readonly address: string; shown: string } | null = null;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  get full(): boolean {
    return this.#chars > this.#maxChars;
  }

  text(piece: string): void {
    if (piece === '') return;
    const [first = '', ...others] = this.#preformatted
      ? piece.split(/\r?\n/)
      : [piece.replace(/[\s\u00a0]+/g, ' ')];
    this.#add(first);
    for (const line of others) {
      this.newLine(1);
      this.#add(line);
    }
  }

  /** Ends the current line, and adds empty lines up to `count` line ends. */
  newLine(count: number): void {
    const prefix = '> '.repeat(this.#depth);
    for (let done = 0; done < count; done += 1) {
      this.#lines.push((prefix + this.#line).trimEnd());
      this.#chars += this.#line.length + 1;
      this.#emptyLine();
    }
  }

  /** Starts or ends a block with at least this many line ends. Adjacent blocks share their empty line. */
  block(lineEnds: number): void {
    if (this.#line.trim() !== '') this.newLine(1);
    else this.#emptyLine();
    const last = this.#lines.at(-1);
    if (lineEnds > 1 && last !== undefined && !isBlank(last)) this.newLine(1);
  }

  quote(by: number): void {
    this.#depth = Math.min(Math.max(this.#depth + by, 0), QUOTE_DEPTH_MAX);
  }

  preformatted(on: boolean): void {
    this.#preformatted = on;
  }

  startLink(address: string | null): void {
    this.#link = address === null ? null : { address, shown: '' };
  }

  endLink(): void {
    const link = this.#link;
    this.#link = null;
    if (link !== null && link.shown.trim() !== link.address) this.#add(` (${link.address})`);
  }

  /** The whole text, without empty lines around it and with at most one in a row. */
  end(): string {
    if (this.#line.trim() !== '') this.newLine(1);
    const kept = this.#lines.filter(
      (line, index) => !isBlank(line) || !isBlank(this.#lines[index - 1] ?? ''),
    );
    return kept.join('\n').replace(/^\n+/, '').trimEnd();
  }

  #emptyLine(): void {
    this.#line = '';
    this.#endsBlank = true;
  }

  #add(piece: string): void {
    const joined = this.#preformatted || !this.#endsBlank ? piece : piece.trimStart();
    if (joined === '') return;
    this.#line += joined;
    this.#endsBlank = joined.endsWith(' ');
    if (this.#link !== null) this.#link.shown += joined;
    if (this.#line.length > this.#maxChars) this.newLine(1);
  }
}

function isBlank(line: string): boolean {
  return /^[> ]*$/.test(line);
}
