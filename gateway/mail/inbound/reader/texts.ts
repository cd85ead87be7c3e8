const MARK_OF_MISSING = '\ufffd';

/** Well-formed Unicode without NUL, which some programs that read it couldn't handle. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll('\0', MARK_OF_MISSING);
}

/** Whether a text shows that something of it could not be read. */
export function hasMissing(text: string | null): boolean {
  return text !== null && text.includes(MARK_OF_MISSING);
}

/** One line of well-formed Unicode without controls, at most `maxChars` UTF-16 units. */
export function cleanLine(text: string, maxChars: number): string {
  // Cut twice: a header may be very long, and replacing its controls makes it shorter.
  const line = cutText(text, maxChars * 4).toWellFormed();
  // oxlint-disable-next-line no-control-regex -- these are the characters to be removed
  return cutText(line.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' '), maxChars).trim();
}

/** Cuts without splitting a character. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const last = text.charCodeAt(maxChars - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? maxChars - 1 : maxChars);
}
