/** Another text of the same length, by its first character, whatever that is. */
export function changed(text: string): string {
  return `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`;
}
