/**
 * Replaces zod in the bundle of the writer thread. Operations carry their schemas into that thread, but nothing
 * validates there, because the input was validated before. This saves a fifth of the thread's memory. A validation
 * that does happen here throws; it never passes.
 */
const CHECKS = new Set<string | symbol>(['parse', 'safeParse', 'parseAsync', 'safeParseAsync']);

const anything: unknown = new Proxy(() => anything, {
  get(_target, name) {
    if (CHECKS.has(name)) throw new Error('The thread that writes checks no schemas.');
    return name === Symbol.toPrimitive ? () => '' : anything;
  },
  apply: () => anything,
});

export default anything;
