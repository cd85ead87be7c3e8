import type { MailDirection } from './mail-direction.ts';
import { markIn, quoteMarkAt } from './quote-marks.ts';

/** A longer introduction is text. */
const INTRODUCTION_MAX_CHARS = 500;
/** The longest introduction without a time or an address. */
const NO_TIME_MAX_CHARS = 100;
/** How many lines an introduction may span. */
const INTRODUCTION_LINES_MAX = 3;
/** Without its blank, a line of two dashes starts a signature only this close to the end. */
const SIGNATURE_LINES_MAX = 10;

/** The verb of an introduction such as `On Monday, Ana wrote:`, in the languages of common mail programs. */
const WROTE = [
  'wrote',
  'schrieb',
  'écrit',
  'escribió',
  'scritto',
  'schreef',
  'escreveu',
  'skrev',
  'kirjoitti',
  'napisał',
  'napsal',
  'napísal',
  'написал',
  'пишет',
  'написав',
  'yazdı',
  'írta',
  'a scris',
  'έγραψε',
  '写道',
  '寫道',
  '작성',
  'のメール',
  'пише',
  'написа',
  'đã viết',
  'menulis',
  'escrigué',
  'va escriure',
  'ha escrit',
  'je napisao',
  'je napisala',
  'је написао',
  'је написала',
  'rašė',
  'rakstīja',
  'kirjutas',
  'skrifaði',
  'เขียนว่า',
  'ने लिखा',
  'كتب',
  'כתב',
];
const OPENS = /^(?:on|am|le|el|il|op|em|den|dnia|w dniu|dne|pe|στις|在|于|於)[\s\d]/i;

/**
 * The new part of a text, without the mails quoted above or below it and without its signature. Quotes between answers
 * stay, because the answers make no sense without them. Returns the whole text if nothing would be left, and for a mail
 * that sends another one on: what it forwards is what it's about. Takes linear time for any text.
 */
export function replyText(text: string, direction: MailDirection = 'reply'): string {
  const lines = text.split(/\r?\n/);
  const appended = appendedTo(lines, direction);
  if (direction === 'forward' || appended === 'forwarded') return text.trim() || text;
  const own = withoutQuotes(appended === null ? lines : linesAbove(lines, appended));
  const signature = signatureAt(own);
  const kept = signature === -1 ? own : own.slice(0, signature);
  const stripped = withoutQuotes(kept).join('\n').trim();
  return stripped === '' ? text.trim() || text : stripped;
}

/**
 * Where a mail starts that is appended without quoting it line by line: it's answered. `forwarded` if it's sent on or
 * may be: keeping a mail too many does no harm.
 */
function appendedTo(
  lines: readonly string[],
  direction: MailDirection,
): number | 'forwarded' | null {
  for (const index of lines.keys()) {
    const mark = quoteMarkAt(lines, index) ?? quotedForward(lines, index);
    if (mark === null && !isIntroducedAt(lines, index)) continue;
    const isAnswered = mark === null || (mark === 'either' && direction === 'reply');
    return isAnswered ? index : 'forwarded';
  }
  return null;
}

/** What stands above the mail that begins at this line, and above a rule between both. */
function linesAbove(lines: readonly string[], appended: number): readonly string[] {
  const above = lines.slice(0, appended);
  const last = above.findLastIndex((line) => !isEmpty(line));
  return /^\s*[-_=]{10,}\s*$/.test(above[last] ?? '') ? above.slice(0, last) : above;
}

/** Apple Mail quotes a mail that it forwards, and the line that says so, too. Below an introduction it's part of an answer. */
function quotedForward(lines: readonly string[], index: number): 'forwarded' | null {
  const [before = '', line = ''] = [lines[index - 1], lines[index]];
  if (!isQuoted(line) || isQuoted(before)) return null;
  const above = lines
    .slice(Math.max(0, index - INTRODUCTION_LINES_MAX), index)
    .findLast((one) => !isEmpty(one));
  if (above !== undefined && /[:：]\s*$/.test(above)) return null;
  const first = lines
    .slice(index, index + INTRODUCTION_LINES_MAX)
    .map((one) => one.replace(/^>[> ]*/, ''))
    .filter((one) => !isEmpty(one));
  return quoteMarkAt(first, 0) === 'forwarded' ? 'forwarded' : null;
}

/** `On Monday, Ana wrote:` before text that isn't quoted line by line. */
function isIntroducedAt(lines: readonly string[], index: number): boolean {
  const introduction = introductionAt(lines, index);
  if (introduction === null || isQuoted(nextText(lines, introduction.end))) return false;
  // Nothing else shows that the rest is quoted, so the line itself must be unmistakable.
  return OPENS.test(markIn(lines, index)) && /\d[:.h]\d\d|@/.test(introduction.text);
}

/** Removes quoted lines at the start and at the end, and the lines that introduce them. */
function withoutQuotes(lines: readonly string[]): readonly string[] {
  let end = lines.length;
  while (end > 0 && (isEmpty(lines[end - 1]) || isQuoted(lines[end - 1]))) end -= 1;
  const quotesEnd = lines.slice(end).some(isQuoted);
  if (quotesEnd) end = beforeIntroduction(lines, end);
  let start = 0;
  const introduction = introductionAt(lines, firstText(lines));
  const quotes = introduction === null ? firstText(lines) : introduction.end;
  if (isQuoted(nextText(lines, quotes))) {
    start = quotes;
    while (start < end && (isEmpty(lines[start]) || isQuoted(lines[start]))) start += 1;
  }
  return lines.slice(start, end);
}

/** Where the introduction right before line `end` starts; `end` itself without one. */
function beforeIntroduction(lines: readonly string[], end: number): number {
  const starts = Array.from({ length: INTRODUCTION_LINES_MAX }, (_, back) => end - 1 - back).filter(
    (from) => from >= 0 && introductionAt(lines, from)?.end === end,
  );
  // Its later lines alone may look like one too.
  return starts.find((from) => OPENS.test(markIn(lines, from))) ?? starts[0] ?? end;
}

interface Introduction {
  readonly text: string;
  /** The line after it. */
  readonly end: number;
}

/** `On Monday, Ana <ana@example.com>⏎wrote:` */
function introductionAt(lines: readonly string[], index: number): Introduction | null {
  let text = '';
  for (let at = index; at < index + INTRODUCTION_LINES_MAX; at += 1) {
    const line = markIn(lines, at);
    if (line === '' || isQuoted(line)) return null;
    text = `${text} ${line}`.trim();
    if (/[:：]$/.test(line)) return isIntroduction(text) ? { text, end: at + 1 } : null;
  }
  return null;
}

function isIntroduction(text: string): boolean {
  if (text.length > INTRODUCTION_MAX_CHARS) return false;
  // Without a time or an address it must be short: `On Monday Ana wrote:`.
  if (!/\d|@/.test(text) && !(OPENS.test(text) && text.length <= NO_TIME_MAX_CHARS)) return false;
  const lower = text.toLowerCase();
  return WROTE.some((verb) => lower.includes(verb)) || /<[^<>\s]+@[^<>\s]+>\s*[:：]$/.test(text);
}

/** RFC 3676 section 4.3. Many programs remove the blank. */
function signatureAt(lines: readonly string[]): number {
  return lines.findIndex(
    (line, index) =>
      line === '-- ' || (line === '--' && lines.length - index - 1 <= SIGNATURE_LINES_MAX),
  );
}

function firstText(lines: readonly string[]): number {
  const found = lines.findIndex((line) => !isEmpty(line));
  return found === -1 ? lines.length : found;
}

/** The first of the next few lines that isn't empty. */
function nextText(lines: readonly string[], index: number): string | undefined {
  return lines.slice(index, index + INTRODUCTION_LINES_MAX).find((line) => !isEmpty(line));
}

function isEmpty(line: string | undefined): boolean {
  return line === undefined || line.trim() === '';
}

function isQuoted(line: string | undefined): boolean {
  return line?.startsWith('>') ?? false;
}
