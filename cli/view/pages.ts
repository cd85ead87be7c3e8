import { isObject } from '../../shared/lib/guards.ts';
import { jsonLines } from './json.ts';
import type { View } from './output.ts';
import type { Layout, Look } from './table.ts';
import { plainText, safeJson, shellWord } from './terminal-text.ts';

/** Prints a list page by page. */
export interface Pages {
  /** Prints the page's rows. */
  page(answer: unknown, view: View): void;
  /** Ends the list; with a cursor it goes on there. */
  end(cursor: string | null): void;
}

interface Printer {
  readonly json: boolean;
  readonly terminal: boolean;
  /** The answer as JSON tells it. */
  told(answer: unknown): unknown;
  /** Writes lines without a final line feed. */
  draw(draw: (look: Look) => readonly string[]): void;
  /** Shows a page with the columns of the pages before. */
  readable(answer: unknown, view: View, layout: Layout): void;
  write(text: string): void;
  note(text: string): void;
}

/** On a terminal: one table that grows. Otherwise the same document as for a page, but with the items of all pages. */
export class PagePrinter implements Pages {
  readonly #to: Printer;
  readonly #layout: Layout = { columns: '', widths: [] };
  #rows = 0;
  #last: { readonly answer: unknown; readonly view: View } | null = null;

  constructor(to: Printer) {
    this.#to = to;
  }

  page(answer: unknown, view: View): void {
    const items = itemsOf(answer);
    if (this.#to.json) this.#items(itemsOf(this.#to.told(answer)));
    else if (items.length > 0) this.#to.readable(answer, view, this.#layout);
    this.#rows += items.length;
    this.#last = { answer, view };
  }

  end(cursor: string | null): void {
    if (this.#last === null) return;
    const { answer, view } = this.#last;
    if (this.#to.json) this.#tail(answer, cursor);
    else if (this.#rows === 0) this.#to.readable(answer, view, this.#layout);
    if (cursor !== null) this.#to.note(`To continue: --cursor ${shellWord(cursor)}`);
  }

  #items(items: readonly unknown[]): void {
    const { terminal } = this.#to;
    const start = terminal ? '{\n  "items": [\n' : '{"items":[';
    const between = terminal ? ',\n' : ',';
    if (this.#last === null) this.#to.write(start);
    for (const [index, item] of items.entries()) {
      if (this.#rows + index > 0) this.#to.write(between);
      if (terminal) this.#to.draw((look) => jsonLines(item, look, '    '));
      else this.#to.write(safeJson(item, 0));
    }
  }

  /** The document's other members, as on the last page. */
  #tail(answer: unknown, cursor: string | null): void {
    const { terminal } = this.#to;
    const { items: _, ...rest } = isObject(answer) ? answer : {};
    const members = safeJson({ ...rest, next_cursor: cursor }, terminal ? 2 : 0).slice(1);
    const end = terminal ? `${this.#rows > 0 ? '\n' : ''}  ],` : '],';
    this.#to.write(`${end}${members}\n`);
  }
}

/** The items of a page. */
export function itemsOf(answer: unknown): readonly unknown[] {
  const items = isObject(answer) ? answer['items'] : null;
  return Array.isArray(items) ? items : [];
}

/** Where the next page starts; null after the last. */
export function cursorOf(answer: unknown): string | null {
  const cursor = isObject(answer) ? answer['next_cursor'] : null;
  return cursor === null || cursor === undefined ? null : plainText(cursor);
}
