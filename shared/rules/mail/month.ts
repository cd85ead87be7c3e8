/** The calendar month of a time in UTC, such as `2026-01`. */
export function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7);
}

/** When the next month begins in UTC, in milliseconds. */
export function monthEnd(ms: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}
