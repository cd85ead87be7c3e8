/** By then what follows a start is over. */
const AFTER_MS = 4000;

/**
 * Gives back, once, the memory that starting has left as garbage: schemas, texts of modules, tables of statements. V8 would
 * keep it for long in a process that does little. Needs `--expose-gc`; without it nothing happens.
 */
export function tidyAfterStart(): void {
  const { gc } = globalThis;
  if (!gc) return;
  const tidy = setTimeout(() => {
    gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  }, AFTER_MS);
  tidy.unref();
}
