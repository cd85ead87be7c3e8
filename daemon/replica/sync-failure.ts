/** What to do about a synchronization that failed. */
export type SyncFailure =
  /** Somebody reads the log while it is to be folded in: again in a moment. */
  | 'busy'
  /** The gateway did not answer, or not all of it: again later. */
  | 'network'
  /** The gateway refused the key: it is to be asked. */
  | 'refused'
  /** The gateway does not have what comes next in this copy: it is worth nothing. */
  | 'lost'
  /** The disk has no room. */
  | 'full'
  /** The process has ended, or was ended because nothing came of it. */
  | 'ended'
  /** Anything else: the copy is not what it should be. */
  | 'damaged';

export class SyncError extends Error {
  readonly failure: SyncFailure;

  constructor(failure: SyncFailure, message: string) {
    super(message);
    this.name = 'SyncError';
    this.failure = failure;
  }
}

/** The client of the database tells what went wrong in words alone. */
const WORDS: readonly (readonly [RegExp, SyncFailure])[] = [
  [/database is locked|unable to truncate WAL|\bSQLITE_BUSY\b/, 'busy'],
  [/database or disk is full|No space left/, 'full'],
  [/PullFrame\(40[13]\b|Unauthorized/, 'refused'],
  [/PullFrame\(404\b/, 'lost'],
  [/PullFrame\((?:429|5\d\d)\b|HttpDispatch|HttpBody|http dispatch error|body error/, 'network'],
];

export function syncErrorOf(message: string): SyncError {
  const known = WORDS.find(([words]) => words.test(message));
  return new SyncError(known?.[1] ?? 'damaged', message);
}
