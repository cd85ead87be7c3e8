const MARK_OF_MISSING = '\ufffd';

/** Well-formed Unicode without NUL, which not every program behind us would survive. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll('\0', MARK_OF_MISSING);
}

/** The same on one line, without controls, of at most so many UTF-16 units. */
export function cleanLine(text: string, maxChars: number): string {
  // Cut twice: what a header says may be long, and what is left of it may have blanks at its end.
  const line = cutText(text, maxChars * 4).toWellFormed();
  // oxlint-disable-next-line no-control-regex -- these are the characters to be removed
  return cutText(line.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' '), maxChars).trim();
}

/** Cut where no character is torn apart. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const last = text.charCodeAt(maxChars - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? maxChars - 1 : maxChars);
}
