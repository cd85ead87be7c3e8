/** A promise that a test keeps when it likes. */
export function promised(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  const resolvers: (() => void)[] = [];
  const promise = new Promise<void>((done) => resolvers.push(done));
  return { promise, resolve: () => resolvers[0]?.() };
}
