/** Startup work is over by then; on a busy machine, by the second time. */
const AFTER_MS: readonly number[] = [4000, 12_000];

/**
 * Frees the garbage of startup: schemas, module sources, statement tables. V8 would keep it for long in an idle
 * process. Needs `--expose-gc`, otherwise does nothing.
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
