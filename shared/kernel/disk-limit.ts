import { ServiceError } from '../lib/errors.ts';
import { mayCall } from '../lib/scopes.ts';
import { isReservedPath, STATE_PREFIX } from '../rules/disk/disk-name.ts';
import type { ListRange } from '../store/tables/text-range.ts';
import type { Caller } from './context.ts';

/** The names on the disk that a call reads or changes. An operation declares them, and `admit` checks them. */
export interface DiskNames {
  /** The input field: a name or a list of names. */
  readonly field: string;
  /** A task's state is the key `state/{task_id}`. */
  readonly kind: 'key' | 'task' | 'path';
  /** The field is the prefix of a list, whose scan `scannedPrefixes` must narrow. */
  readonly isPrefix?: true;
}

type LimitedCaller = Pick<Caller, 'diskPrefixes' | 'scopes'>;

/** Throws SCOPE_MISSING if the input names something that the key's prefixes don't cover, whether it exists or not. */
export function refuseOutside(
  { field, kind, isPrefix }: DiskNames,
  input: Readonly<Record<string, unknown>>,
  caller: LimitedCaller,
): void {
  const prefixes = caller.diskPrefixes;
  if (prefixes === null) return;
  const names = [input[field] ?? []].flat() as string[];
  const isCovered = (name: string): boolean =>
    isPrefix ? scannedPrefixes(caller, kind, name).length > 0 : isInside(caller, kind, name);
  if (!names.every(isCovered)) throw outside(prefixes);
}

/** The refusal of names outside a key's prefixes. Over MCP an agent sees only the hint. */
export function outside(prefixes: readonly string[], hint?: string): ServiceError {
  const listed = prefixes.map((prefix) => JSON.stringify(prefix)).join(', ');
  return new ServiceError('SCOPE_MISSING', {
    details: { scope: 'disk', prefixes: [...prefixes] },
    hint: hint ?? `This key is limited to names on the disk that start with ${listed}.`,
  });
}

/**
 * The prefixes that together list exactly what the key may see below `prefix`: disjoint and in byte order. Empty if it
 * may see nothing there.
 */
export function scannedPrefixes(
  caller: LimitedCaller,
  kind: DiskNames['kind'],
  prefix: string,
): readonly string[] {
  const own = ownPrefixes(caller, kind, prefix);
  if (own === null) return [prefix];
  const narrowed = own.flatMap((one) => {
    if (prefix.startsWith(one)) return [prefix];
    return one.startsWith(prefix) ? [one] : [];
  });
  return withoutNested(narrowed);
}

/** Whether a key may see this name at all. */
export function isInside(caller: LimitedCaller, kind: DiskNames['kind'], name: string): boolean {
  const key = kind === 'task' ? STATE_PREFIX + name : name;
  const own = ownPrefixes(caller, kind, name);
  return own === null || own.some((prefix) => key.startsWith(prefix));
}

/** The prefixes for names of this kind; null if all are allowed. */
function ownPrefixes(
  { diskPrefixes, scopes }: LimitedCaller,
  kind: DiskNames['kind'],
  name: string,
): readonly string[] | null {
  if (diskPrefixes === null) return null;
  if (kind !== 'path') return [...diskPrefixes, ...diskPrefixes.map((one) => STATE_PREFIX + one)];
  // Attachments of mails belong to the inbox.
  if (isReservedPath(name)) return mayCall(scopes, 'inbox:read') ? null : [];
  return diskPrefixes;
}

function withoutNested(prefixes: readonly string[]): string[] {
  // JavaScript's own order is that of UTF-16 code units.
  const sorted = [...new Set(prefixes)].toSorted((a, b) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
  // In this order, whatever starts with a prefix follows it directly.
  const kept: string[] = [];
  for (const one of sorted) {
    const last = kept.at(-1);
    if (last === undefined || !one.startsWith(last)) kept.push(one);
  }
  return kept;
}

/** A page over several disjoint prefixes in byte order; `read` reads one range. */
export async function pageOfPrefixes<T>(
  prefixes: readonly string[],
  { after, limit }: Omit<ListRange, 'prefix'>,
  read: (range: ListRange) => Promise<readonly T[]>,
): Promise<T[]> {
  const rows: T[] = [];
  for (const prefix of prefixes) {
    if (rows.length >= limit) break;
    rows.push(...(await read({ prefix, after, limit: limit - rows.length })));
  }
  return rows;
}

/** Requests whose texts name files. */
const NAMING: readonly string[] = ['file_url', 'email_send'];

/** What a request says about itself. */
export interface RequestTexts {
  readonly kind: string;
  readonly summary: string;
  readonly details: string | null;
  readonly requested_by: { readonly key_id: string };
}

/** Whether the caller reads what names files in what this key made: a key that is limited to prefixes only in its own. */
export function mayReadNames(
  { diskPrefixes, keyId }: Pick<Caller, 'diskPrefixes' | 'keyId'>,
  maker: string,
): boolean {
  return diskPrefixes === null || keyId === maker;
}

/** A request without the file names of other keys' requests, for a key that is limited to prefixes. */
export function withoutForeignNames<R extends RequestTexts>(
  request: R,
  caller: Pick<Caller, 'diskPrefixes' | 'keyId'>,
): R {
  const { kind, summary, requested_by: asker } = request;
  if (mayReadNames(caller, asker.key_id)) return request;
  if (!NAMING.includes(kind)) return request;
  const shown = kind === 'file_url' ? 'Share a file by a public link' : summary;
  return { ...request, summary: shown, details: null };
}
