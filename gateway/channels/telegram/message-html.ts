import { escapeHtml, fitHtml, shownLine, shownText } from './display-text.ts';

/** With less room than this, a text is useless. */
const ROOM_MIN_CHARS = 12;

/** Longer texts are cut to this first, because the rest wouldn't fit anyway. */
const READ_MAX_CHARS = 8000;

/**
 * The HTML of one message, which never exceeds its limit. It escapes all text, ours too. Texts by others are monospace:
 * Telegram makes no links, mentions or commands of them, and they can't pass for our own words.
 */
export class MessageHtml {
  readonly #maxChars: number;
  #html = '';
  #isCut = false;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  get html(): string {
    return this.#html.trimEnd();
  }

  /** Whether something didn't fit. */
  get isCut(): boolean {
    return this.#isCut;
  }

  heading(text: string): void {
    this.#add('<b>', text, '</b>\n');
  }

  line(text: string): void {
    this.#add('', text, '\n');
  }

  gap(): void {
    this.#add('', '', '\n');
  }

  /** A label and one line that somebody wrote. */
  field(label: string, text: string, maxChars = 240): void {
    const read = text.slice(0, READ_MAX_CHARS);
    this.#isCut ||= read.length < text.length;
    this.#add(`${escapeHtml(label)} <code>`, shownLine(read), '</code>\n', maxChars);
  }

  /** A label and below it a text that somebody wrote; false if not all of it fits. */
  block(
    label: string,
    text: string,
    options: { maxChars?: number; isDiff?: boolean } = {},
  ): boolean {
    const [open, close] = options.isDiff
      ? ['<pre><code class="language-diff">', '</code></pre>\n']
      : ['<pre>', '</pre>\n'];
    const read = text.slice(0, READ_MAX_CHARS);
    const isWhole = read.length === text.length;
    this.#isCut ||= !isWhole;
    const before = `<b>${escapeHtml(label)}</b>\n${open}`;
    return this.#add(before, shownText(read), close, options.maxChars) && isWhole;
  }

  /** False if not all of it fits. */
  #add(before: string, text: string, after: string, maxChars = Number.POSITIVE_INFINITY): boolean {
    const left = this.#maxChars - this.#html.length - before.length - after.length;
    const width = Math.min(left, maxChars);
    const { html, isCut } = fitHtml(text, Math.max(0, width));
    if (left < 0 || (isCut && width < ROOM_MIN_CHARS)) {
      this.#isCut = true;
      return false;
    }
    this.#html += before + html + after;
    this.#isCut ||= isCut;
    return !isCut;
  }
}
