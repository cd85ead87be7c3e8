/** What to do about a synchronization that failed. */
export type SyncFailure =
  /** Somebody reads the log while it is to be folded in: again in a moment. */
  | 'busy'
  /** Nothing came, or nothing that says what is wrong with the copy: again later. */
  | 'network'
  /** The gateway refused the key: it is to be asked. */
  | 'refused'
  /** The gateway does not have what comes next in this copy: it is worth nothing. */
  | 'lost'
  /** The disk has no room. */
  | 'full'
  /** Somebody ended the process, or it didn't start. */
  | 'ended'
  /** Native code ended the process. */
  | 'crashed'
  /** The file itself says so: the copy is not what it should be. */
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
 * The client of the database tells what went wrong in words alone. A copy is thrown away only for words that are about its
 * files: whatever else there is to say, another try costs less than another copy.
 */
const WORDS: readonly (readonly [RegExp, SyncFailure])[] = [
  [/database is locked|unable to truncate WAL|\bSQLITE_BUSY\b/, 'busy'],
  [/database or disk is full|No space left/, 'full'],
  [/(?:PullFrame|PullDb)\(40[13]\b|Unauthorized/, 'refused'],
  [/(?:PullFrame|PullDb)\(404\b/, 'lost'],
  [/malformed|not a database|disk I\/O error|SQLITE_(?:CORRUPT|NOTADB|IOERR)/, 'damaged'],
  [/WalConflict|InvalidLocal(?:State|Generation)|Verify(?:Hash|Version)/, 'damaged'],
];

/** What the relay says, as the client passes it on. */
const RELAYED = /PullFrame\(424\b[^"]*"((?:[^"\\]|\\.)*)"/;

export function syncErrorOf(message: string): SyncError {
  const [, relayed] = RELAYED.exec(message) ?? [];
  if (relayed !== undefined) return new SyncError('network', relayed.replaceAll(/\\(.)/g, '$1'));
  const known = WORDS.find(([words]) => words.test(message));
  return new SyncError(known?.[1] ?? 'network', message);
}

/** What native code ends with that gives up, or that the system has to stop. */
const CRASHES: ReadonlySet<string | null> = new Set([
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGILL',
  'SIGSEGV',
  'SIGTRAP',
]);

/** The end of the process that synchronizes. */
export function syncEndOf(code: number | null, signal: string | null): SyncError {
  const failure = CRASHES.has(signal) ? 'crashed' : 'ended';
  return new SyncError(failure, `The replica process exited (${signal ?? `exit ${code}`}).`);
}
