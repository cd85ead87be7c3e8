const QUOTE_DEPTH_MAX = 10;

/** Puts a text together from pieces as a browser would show them: blanks in a row are one. */
export class TextLines {
  readonly #maxChars: number;
  #lines: string[] = [];
  #chars = 0;
  #line = '';
  /** Known apart: to look at the end of a text that grows, it would be put together each time. */
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

  /** Ends the line that is being written, and adds empty ones behind it. */
  newLine(count: number): void {
    const prefix = '> '.repeat(this.#depth);
    for (let done = 0; done < count; done += 1) {
      this.#lines.push((prefix + this.#line).trimEnd());
      this.#chars += this.#line.length + 1;
      this.#emptyLine();
    }
  }

  /** A block begins or ends: at least so many line ends, as one does not leave empty lines behind the other. */
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

  /** The whole, without empty lines around it and without more than one in a row. */
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
