/** Makes something when it is first asked for, and keeps it: what nobody asks for costs neither start nor memory. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
