/** The longest start of a text that fits in this many bytes of UTF-8, without splitting a character. */
export function cutUtf8(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  // Continuation bytes are 10xxxxxx, so step back to the start of a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

// oxlint-disable no-control-regex -- these are the characters to be refused
/** A text without ASCII and Latin-1 control characters. */
export const ONE_LINE = /^[^\u0000-\u001f\u007f-\u009f]*$/;
/** The same, but tabs and line ends are fine. */
export const LINES = /^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]*$/;
/** A text that a database can store. */
export const WITHOUT_NUL = /^[^\u0000]*$/;
// oxlint-enable no-control-regex

/** Whether a schema's pattern only refuses some characters, and asks for no form. */
export function isFormless(pattern: string): boolean {
  return [ONE_LINE, LINES, WITHOUT_NUL].some(({ source }) => source === pattern);
}

/** Whether the text has an ASCII or Latin-1 control character. */
export function hasControl(text: string): boolean {
  return !ONE_LINE.test(text);
}
