/** Longer texts are cut, because an agent's text must fit in one line. */
const QUOTED_CHARS_MAX = 200;
const PLAIN = /^[\w.:/*@+-]+$/;
/** Characters that a reader wouldn't see, or would see in another place. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Any text as part of a line: quoted, cut, and with invisible characters escaped. */
export function quoted(text: string): string {
  const cut = text.length > QUOTED_CHARS_MAX;
  const shown = JSON.stringify(cut ? text.slice(0, QUOTED_CHARS_MAX) : text).replace(
    UNSEEN,
    (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
  return cut ? `${shown}…` : shown;
}

/** A name as it is if it can't be mistaken for the words around it, otherwise in quotes. */
export function named(text: string): string {
  return text.length <= QUOTED_CHARS_MAX && PLAIN.test(text) ? text : quoted(text);
}

/** `a`, `a or b`, `a or b or c`. */
export function anyOf(texts: readonly string[]): string {
  return texts.map(named).join(' or ');
}
