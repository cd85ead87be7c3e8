import { ExactNumber } from './exact-json.ts';

/** The code of a system or driver error, such as `ENOENT`. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : null;
}

/** A JSON object from its text; null for other JSON and for text that is none. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** True for anything `{}`-like: no array, and no number that is kept as it was written. */
export function isObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  return !Array.isArray(value) && !(value instanceof ExactNumber);
}
