/** The noun for this count: `attempt` for 1, otherwise `attempts`. */
export function nounFor(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? one : many;
}

/** `1 attempt`, `3 attempts`. */
export function pluralize(count: number, one: string, many?: string): string {
  return `${count} ${nounFor(count, one, many)}`;
}
