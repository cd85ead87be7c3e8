import { databasePlaces, unwritable } from '../../host/writable.ts';
import { ServiceError, unavailable } from '../../lib/errors.ts';
import { errorCode } from '../../lib/guards.ts';

const RETRY_SECONDS = 5;

/** What callers learn: no paths, which are the operator's. */
const HINTS = {
  disk_full: "The server's disk is full. Repeat it once there is room",
  read_only:
    "The server can't write its data: a file or folder is read-only. Repeat it once that's mended",
  disk_failed: "The server's disk failed a write. Repeat it once that's mended",
} as const;

type Kind = keyof typeof HINTS;

const KINDS: readonly (readonly [prefix: string, kind: Kind])[] = [
  ['SQLITE_FULL', 'disk_full'],
  ['SQLITE_READONLY', 'read_only'],
  ['SQLITE_CANTOPEN', 'read_only'],
  ['SQLITE_PERM', 'read_only'],
  ['SQLITE_IOERR', 'disk_failed'],
  ['ENOSPC', 'disk_full'],
  ['EDQUOT', 'disk_full'],
  ['EROFS', 'read_only'],
  ['EACCES', 'read_only'],
  ['EPERM', 'read_only'],
  ['EIO', 'disk_failed'],
];

/** UNAVAILABLE that says what is wrong with the server's disk, so that senders try again; null for other errors. */
export function diskRefusal(error: unknown): ServiceError | null {
  const code = errorCode(error) ?? '';
  const [, kind] = KINDS.find(([prefix]) => code.startsWith(prefix)) ?? [];
  if (kind === undefined) return null;
  return new ServiceError('UNAVAILABLE', {
    hint: `${HINTS[kind]}: \`svc status\`, or /readyz of a gateway, says where.`,
    details: { retry_after: RETRY_SECONDS, kind },
    cause: error,
  });
}

/** What callers learn of an error of the store: UNAVAILABLE, with the reason where it is the disk. */
export function refusalOf(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  return diskRefusal(error) ?? unavailable(RETRY_SECONDS, error);
}

/** SQLite would open such a file read-only, and never write to it even after the problem is fixed. */
export function refuseUnwritable(path: string): void {
  const trouble = unwritable(databasePlaces(path));
  if (trouble === null) return;
  const { text, cure, code } = trouble;
  throw refusalOf(Object.assign(new Error(`${text}. ${cure}`), { code }));
}
