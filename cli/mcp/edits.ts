/** svc can't change the file safely; the message says why. */
export class EntryEditError extends Error {}

/** The fields of a server's entry in a client's file. */
export type EntryFields = Readonly<
  Record<string, string | readonly string[] | Readonly<Record<string, string>>>
>;

/** Replaces a part of a text. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export function applied(text: string, edits: readonly Edit[]): string {
  const fromTheEnd = edits.toSorted((one, other) => other.start - one.start);
  return fromTheEnd.reduce(
    (changed, edit) => changed.slice(0, edit.start) + edit.text + changed.slice(edit.end),
    text,
  );
}

export function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

/** The fields that say how to reach a server. Each installation replaces them and keeps the others. */
const REACHING: ReadonlySet<string> = new Set([
  'type',
  'command',
  'args',
  'env',
  'url',
  'httpUrl',
  'serverUrl',
  'headers',
  'http_headers',
  'env_http_headers',
  'bearer_token_env_var',
]);

export function isKept(field: string): boolean {
  return !REACHING.has(field);
}
