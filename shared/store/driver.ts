/** What may be bound or read. Anything else is refused before it reaches the native driver, which would abort on it. */
export type SqlValue = string | number | bigint | null | Uint8Array;
export type Row = Record<string, SqlValue>;

/** Statements of one transaction or snapshot; revoked when the function that got it settles. */
export interface Tx {
  get<T extends Row = Row>(sql: string, params?: readonly SqlValue[]): Promise<T | undefined>;
  all<T extends Row = Row>(sql: string, params?: readonly SqlValue[]): Promise<T[]>;
  /** The number of rows changed. */
  run(sql: string, params?: readonly SqlValue[]): Promise<number>;
  /**
   * The same where nobody needs the number: over a network it may travel with what comes next, and resolves before it
   * has run. When it fails, so does what comes next, or the job.
   */
  put(sql: string, params?: readonly SqlValue[]): Promise<void>;
  /** What the jobs of one transaction share; absent in snapshots. */
  readonly group?: SharedByGroup;
}

/** One transaction holds the jobs of several callers. This is what they may hand to one another. */
export interface SharedByGroup {
  /** What need not be read again by the next job, such as the newest ledger entry. Emptied when a job is undone. */
  readonly carried: Map<string, unknown>;
  /**
   * Runs once before COMMIT for all jobs that asked under this name: for what they add up in `carried` and need to write
   * only once. The job that asks has written something.
   */
  atEnd(name: string, finisher: (tx: Tx) => Promise<void>): void;
}

/** A transaction of the writer; its statements may change rows. */
export type WriteTx = Tx & { readonly group: SharedByGroup };

/** A statement that reads. */
export interface Query {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

export interface WriteOptions<T> {
  /** Bytes this job holds while it is queued, for the queue's bound. */
  readonly sizeBytes?: number;
  /**
   * Runs when the job failed and its changes are undone, inside the same transaction: may record the refusal. What it
   * throws is what the caller gets; what it returns is the job's result.
   */
  readonly onError?: (tx: WriteTx, error: unknown) => Promise<T>;
  /**
   * What the job will ask for, in these very words: over a network it is asked for all jobs of a transaction at once, before
   * the first of them runs. Only for what a job of the same transaction cannot change, or tells by what is carried.
   */
  readonly ahead?: readonly Query[];
}

/** Consistent snapshots of a database. Asynchronous throughout, so that a database over the network fits behind it. */
export interface Reader {
  /** `fn` awaits nothing but its `Tx`. */
  read<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The one writer of a database. */
export interface Writer {
  /**
   * One atomic job, durable when the promise resolves. `fn` awaits nothing but its `Tx`, and may run a second time when
   * another job of its transaction failed halfway.
   */
  write<T>(fn: (tx: WriteTx) => Promise<T>, options?: WriteOptions<T>): Promise<T>;
  /** Leaves nothing of deleted rows in logs beside the database, where there are such. */
  rotate(): Promise<void>;
  /** Finishes what is queued first. */
  close(): Promise<void>;
}

/** A place in the log of a database, which replicas follow. */
export interface LogPosition {
  /** Random; names one history of the file. Generations of another history mean something else. */
  readonly epoch: string;
  /** Counts how often the log was begun anew in this history, from 1. */
  readonly generation: number;
  /** Frames of this generation that are committed. */
  readonly frames: number;
  /** Bytes 8 to 15 of the header of each of them, as hex: SQLite's salts. Null while there is none. */
  readonly salts: string | null;
}

/** How far a database has come. */
export interface ReplicationPosition {
  /** The number of the newest commit. */
  readonly position: number;
  /** Null while nobody follows the log, and while it cannot be told from which frame on it may be read. */
  readonly log: LogPosition | null;
}

/** A copy of the database file as it stood when a generation began. */
export interface BaseCopy {
  readonly epoch: string;
  readonly generation: number;
  readonly path: string;
  readonly sizeBytes: number;
}

/** A log that replicas may follow: kept in generations from the first `follow` on, for a day after the last. */
export interface FollowedLog {
  /** How far the database has come. */
  readonly replication: ReplicationPosition;
  /** Asks that the log be kept; to be repeated every hour. UNAVAILABLE while somebody else is in the way. */
  follow(): Promise<ReplicationPosition>;
  /** UNAVAILABLE when the log is not kept, and while somebody else is in the way. */
  copyBase(): Promise<BaseCopy>;
}
