/** Tells the person who runs the program. */
export function noteToConsole(text: string): void {
  // oxlint-disable-next-line no-console -- a program that passes no `note` has no other way to learn of it
  console.warn(`svc: ${text}`);
}
