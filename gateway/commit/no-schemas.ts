/**
 * Stands in for zod in the bundle of the thread that writes. Operations come there with the declarations of their schemas,
 * and nothing is checked against them: what arrives was checked before. Doing without them spares that thread a fifth of
 * its memory. Checking against one all the same is an error, never a pass.
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
