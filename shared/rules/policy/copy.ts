/** A longer text is cut: what an agent gave is shown in one line. */
const QUOTED_CHARS_MAX = 200;
const PLAIN = /^[\w.:/*@+-]+$/;
/** What a reader would not see, or would see in another place. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Any text as part of a line: in quotes, cut, and with everything invisible written out. */
export function quoted(text: string): string {
  const cut = text.length > QUOTED_CHARS_MAX;
  const shown = JSON.stringify(cut ? text.slice(0, QUOTED_CHARS_MAX) : text).replace(
    UNSEEN,
    (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
  return cut ? `${shown}…` : shown;
}

/** A name as it is where that cannot be mistaken for the words around it, otherwise in quotes. */
export function named(text: string): string {
  return text.length <= QUOTED_CHARS_MAX && PLAIN.test(text) ? text : quoted(text);
}

/** `a`, `a or b`, `a or b or c`. */
export function anyOf(texts: readonly string[]): string {
  return texts.map(named).join(' or ');
}
