import type { SqlValue } from './driver.ts';

/** Returns the values of a statement; throws TypeError for a value that no driver stores unchanged. */
export function checked(params: readonly SqlValue[]): SqlValue[] {
  for (const value of params) {
    if (!bindable(value)) {
      throw new TypeError(`A ${typeof value} or text with NUL cannot be bound; store it as bytes.`);
    }
  }
  return params as SqlValue[];
}

function bindable(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
      return !value.includes('\0');
    case 'number':
      return Number.isFinite(value);
    case 'bigint':
      return true;
    default:
      return value === null || value instanceof Uint8Array;
  }
}

/** Judges a statement by its first word. */
export function onlyReads(sql: string): boolean {
  return /^\s*(SELECT|WITH|PRAGMA|EXPLAIN)\b/i.test(sql);
}
