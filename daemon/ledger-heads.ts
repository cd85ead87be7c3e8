import { isObject, parseObject } from '../shared/lib/guards.ts';
import { readIfThere, writePrivateFile } from './files.ts';

/** The end of a ledger as it once was. */
export interface LedgerHead {
  readonly seq: number;
  readonly hash: string;
  readonly at: string;
}

/** True for a head as the interface answers it and files keep it. */
export function isHead(value: unknown): value is LedgerHead {
  return (
    isObject(value) &&
    Number.isSafeInteger(value['seq']) &&
    typeof value['hash'] === 'string' &&
    typeof value['at'] === 'string'
  );
}

/** What is remembered, by project; null when the file is damaged. */
export function readHeads(file: string): Record<string, unknown> | null {
  const text = readIfThere(file);
  return text === null ? {} : parseObject(text);
}

/** Remembers a head; an older one never replaces a newer one. A damaged file stays as it is, for whoever looks into it. */
export function rememberHead(file: string, project: string, head: LedgerHead): void {
  const heads = readHeads(file);
  const before = heads?.[project];
  if (!heads || (isHead(before) && before.seq >= head.seq)) return;
  writeHeads(file, heads, project, head);
}

/** Remembers a head in the place of any other; null forgets. A damaged file stays as it is. */
export function replaceHead(file: string, project: string, head: LedgerHead | null): void {
  const heads = readHeads(file);
  if (heads) writeHeads(file, heads, project, head);
}

function writeHeads(
  file: string,
  heads: Record<string, unknown>,
  project: string,
  head: LedgerHead | null,
): void {
  // JSON leaves out what is undefined.
  const kept = head ? { seq: head.seq, hash: head.hash, at: head.at } : undefined;
  writePrivateFile(file, `${JSON.stringify({ ...heads, [project]: kept }, null, 2)}\n`);
}
