import { isObject, parseObject } from '../shared/lib/guards.ts';
import { readIfThere, writePrivateFile } from './files.ts';

/** The last entry of a ledger at some time. */
export interface LedgerHead {
  readonly seq: number;
  readonly hash: string;
  readonly at: string;
}

/** True for a head in the form of the API and of our files. */
export function isHead(value: unknown): value is LedgerHead {
  return (
    isObject(value) &&
    Number.isSafeInteger(value['seq']) &&
    typeof value['hash'] === 'string' &&
    typeof value['at'] === 'string'
  );
}

/** The remembered heads by project; null if the file is damaged. */
export function readHeads(file: string): Record<string, unknown> | null {
  const text = readIfThere(file);
  return text === null ? {} : parseObject(text);
}

/** Remembers a head, unless it knows a newer one. Leaves a damaged file alone, as evidence. */
export function rememberHead(file: string, project: string, head: LedgerHead): void {
  const heads = readHeads(file);
  const before = heads?.[project];
  if (!heads || (isHead(before) && before.seq >= head.seq)) return;
  writeHeads(file, heads, project, head);
}

/** Replaces the remembered head, even a newer one; null forgets it. Leaves a damaged file alone. */
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
  // JSON drops an undefined value, so this removes the project's head.
  const kept = head ? { seq: head.seq, hash: head.hash, at: head.at } : undefined;
  writePrivateFile(file, `${JSON.stringify({ ...heads, [project]: kept }, null, 2)}\n`);
}
