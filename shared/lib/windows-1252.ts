/** What 0x80 to 0x9f are in windows-1252, which Node 20 decodes as controls. */
const HIGH = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';
const CONTROLS = /[\u0080-\u009f]/g;

/** The text of bytes in windows-1252, given as a text with a character for each byte. */
export function windows1252(characters: string): string {
  return characters.replaceAll(CONTROLS, (one) => HIGH[one.charCodeAt(0) - 0x80] ?? one);
}
