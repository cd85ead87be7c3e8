/** By then what follows a start is over; on a busy machine, by the second time. */
const AFTER_MS: readonly number[] = [4000, 12_000];

/**
 * Gives back the memory that starting has left as garbage: schemas, texts of modules, tables of statements. V8 would
 * keep it for long in a process that does little. Needs `--expose-gc`; without it nothing happens.
 */
export function gcAfterStart(): void {
  const { gc } = globalThis;
  if (!gc) return;
  for (const ms of AFTER_MS) {
    const tidy = setTimeout(() => {
      gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    }, ms);
    tidy.unref();
  }
}
