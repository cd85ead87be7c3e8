import { FILE_PATH_MAX_BYTES, KV_KEY_MAX_BYTES } from '../../lib/limits.ts';
import { hasControl } from '../../lib/text.ts';

/** Keys of task states start with this; only `state_save` writes them. */
export const STATE_PREFIX = 'state/';
/** Marks a file reference where a plain path could be mistaken for something else. */
const REFERENCE = 'disk://';
/** Paths of inbound attachments start with this: `evt_…/name`. */
const RESERVED_PATH = 'evt_';

/** What's wrong with a key, as a sentence; null if it's fine. Keys are opaque: nothing normalises them. */
export function keyProblem(key: string): string | null {
  return nameProblem(key, KV_KEY_MAX_BYTES);
}

/** What's wrong with a file path, as a sentence; null if it's fine. */
export function pathProblem(path: string): string | null {
  const problem = nameProblem(path, FILE_PATH_MAX_BYTES);
  if (problem !== null) return problem;
  return path.split('/').includes('') ? 'Write a path without empty segments: `a/b.txt`.' : null;
}

/** What's wrong with a prefix of keys or paths, as a sentence; null if it's fine. It may end within a segment. */
export function prefixProblem(prefix: string): string | null {
  return textProblem(prefix, Math.max(KV_KEY_MAX_BYTES, FILE_PATH_MAX_BYTES));
}

/** The path after `disk://`, or the given path. */
export function pathOf(pathOrReference: string): string {
  return pathOrReference.startsWith(REFERENCE)
    ? pathOrReference.slice(REFERENCE.length)
    : pathOrReference;
}

export function referenceTo(path: string): string {
  return REFERENCE + path;
}

/** Attachments are read-only: no operation writes below their paths. */
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
  // URL parsers remove these segments, so no request could name such a path.
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
