/** Creates a value on first use and keeps it, so that an unused one costs neither start time nor memory. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
