import { FILE_PATH_MAX_BYTES, KV_KEY_MAX_BYTES } from '../lib/limits.ts';
import { hasControl } from '../lib/text.ts';

/** Keys of task states begin so; they are written by `state_save` alone. */
export const STATE_PREFIX = 'state/';
/** How a file is referred to where a path could be mistaken for something else. */
const REFERENCE = 'disk://';
/** Paths of inbound attachments begin so: `evt_…/name`. */
const RESERVED_PATH = 'evt_';

/** What is wrong with a key, as a sentence, or null. Keys are opaque: nothing is normalised. */
export function keyProblem(key: string): string | null {
  return nameProblem(key, KV_KEY_MAX_BYTES);
}

/** What is wrong with the path of a file, as a sentence, or null. */
export function pathProblem(path: string): string | null {
  const problem = nameProblem(path, FILE_PATH_MAX_BYTES);
  if (problem !== null) return problem;
  return path.split('/').includes('') ? 'Write a path without empty segments: `a/b.txt`.' : null;
}

/** What is wrong with the beginning of a key or path, as a sentence, or null. It may end within a segment. */
export function prefixProblem(prefix: string): string | null {
  return textProblem(prefix, Math.max(KV_KEY_MAX_BYTES, FILE_PATH_MAX_BYTES));
}

/** The path behind `disk://`, or the path as it is. */
export function pathOf(pathOrReference: string): string {
  return pathOrReference.startsWith(REFERENCE)
    ? pathOrReference.slice(REFERENCE.length)
    : pathOrReference;
}

export function referenceTo(path: string): string {
  return REFERENCE + path;
}

/** Attachments are read-only: nothing is written below their paths. */
export function isReservedPath(path: string): boolean {
  return path.startsWith(RESERVED_PATH);
}

export function isStateKey(key: string): boolean {
  return key.startsWith(STATE_PREFIX);
}

function nameProblem(name: string, maxBytes: number): string | null {
  if (name === '') return 'Must not be empty.';
  const problem = textProblem(name, maxBytes);
  if (problem !== null) return problem;
  // Whatever reads a URL takes these segments out, so such a name could not be asked for.
  if (name.split('/').some((segment) => segment === '.' || segment === '..')) {
    return 'The segments `.` and `..` are not allowed.';
  }
  return null;
}

function textProblem(text: string, maxBytes: number): string | null {
  if (!text.isWellFormed()) return 'Not valid Unicode.';
  if (hasControl(text)) return 'Control characters are not allowed.';
  if (Buffer.byteLength(text) > maxBytes) return `Longer than ${maxBytes} bytes in UTF-8.`;
  return null;
}
