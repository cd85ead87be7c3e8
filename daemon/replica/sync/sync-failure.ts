/** Why a sync failed, and what to do. */
export type SyncFailure =
  /** A reader blocks the checkpoint of the log: retry in a moment. */
  | 'busy'
  /** No answer, or an error that says nothing about the replica: retry later. */
  | 'network'
  /** The gateway refused the key: ask it again. */
  | 'refused'
  /** The gateway lacks the next frames of this replica, so the replica is useless. */
  | 'lost'
  /** The disk is full. */
  | 'full'
  /** Somebody ended the process, or it didn't start. */
  | 'ended'
  /** Native code ended the process. */
  | 'crashed'
  /** The file itself proves that the replica is damaged. */
  | 'damaged';

export class SyncError extends Error {
  readonly failure: SyncFailure;

  constructor(failure: SyncFailure, message: string) {
    super(message);
    this.name = 'SyncError';
    this.failure = failure;
  }
}

/**
 * The database client describes errors only in words. We discard a replica only for words about its files: in all other
 * cases, another try costs less than another download.
 */
const WORDS: readonly (readonly [RegExp, SyncFailure])[] = [
  [/database is locked|unable to truncate WAL|\bSQLITE_BUSY\b/, 'busy'],
  [/database or disk is full|No space left/, 'full'],
  [/(?:PullFrame|PullDb)\(40[13]\b|Unauthorized/, 'refused'],
  [/(?:PullFrame|PullDb)\(404\b/, 'lost'],
  [/malformed|not a database|disk I\/O error|SQLITE_(?:CORRUPT|NOTADB|IOERR)/, 'damaged'],
  [/WalConflict|InvalidLocal(?:State|Generation)|Verify(?:Hash|Version)/, 'damaged'],
];

/** The relay's message inside the client's message. */
const RELAYED = /PullFrame\(424\b[^"]*"((?:[^"\\]|\\.)*)"/;

export function syncErrorOf(message: string): SyncError {
  const [, relayed] = RELAYED.exec(message) ?? [];
  if (relayed !== undefined) return new SyncError('network', relayed.replaceAll(/\\(.)/g, '$1'));
  const known = WORDS.find(([words]) => words.test(message));
  return new SyncError(known?.[1] ?? 'network', message);
}

/** The signals that end native code when it aborts or the system stops it. */
const CRASHES: ReadonlySet<string | null> = new Set([
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGILL',
  'SIGSEGV',
  'SIGTRAP',
]);

/** The error for the end of the sync process. */
export function syncEndOf(code: number | null, signal: string | null): SyncError {
  const failure = CRASHES.has(signal) ? 'crashed' : 'ended';
  return new SyncError(failure, `The replica process exited (${signal ?? `exit ${code}`}).`);
}
