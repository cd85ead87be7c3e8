/**
 * Values that statements can bind or return. We refuse anything else, because the native driver would abort the
 * process.
 */
export type SqlValue = string | number | bigint | null | Uint8Array;
export type Row = Record<string, SqlValue>;

/** Runs statements of one transaction or snapshot; unusable once the function that got it settles. */
export interface Tx {
  get<T extends Row = Row>(sql: string, params?: readonly SqlValue[]): Promise<T | undefined>;
  all<T extends Row = Row>(sql: string, params?: readonly SqlValue[]): Promise<T[]>;
  /** Returns the number of changed rows. */
  run(sql: string, params?: readonly SqlValue[]): Promise<number>;
  /** Like `run`, for callers that don't need the number. */
  put(sql: string, params?: readonly SqlValue[]): Promise<void>;
  /** State shared by the jobs of one transaction; missing in snapshots. */
  readonly group?: SharedByGroup;
}

/** State shared by the jobs of one transaction, which may come from several callers. */
export interface SharedByGroup {
  /** Values that the next job needn't read again, such as the newest ledger entry. Cleared when a job is undone. */
  readonly carried: Map<string, unknown>;
  /**
   * Runs `finisher` once before COMMIT for all jobs that used this name. Use it to write totals from `carried` only
   * once. The calling job counts as having written.
   */
  atEnd(name: string, finisher: (tx: Tx) => Promise<void>): void;
}

/** A transaction of the writer, which can change rows. */
export type WriteTx = Tx & { readonly group: SharedByGroup };

/** A statement with its values. */
export interface Query {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

export interface WriteOptions<T> {
  /** The job's size in bytes while it is queued; counts towards the queue's limit. */
  readonly sizeBytes?: number;
  /**
   * Runs in the same transaction after the job failed and its changes were undone, for example to record the refusal.
   * The caller gets the error that it throws, or the value that it returns.
   */
  readonly onError?: (tx: WriteTx, error: unknown) => Promise<T>;
}

/** Takes consistent snapshots of a database. Everything is asynchronous, so that remote databases fit the interface. */
export interface Reader {
  /** `fn` must await only its `Tx`. */
  read<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The only writer of a database. */
export interface Writer {
  /**
   * Runs one atomic job; it is durable when the promise resolves. `fn` must await only its `Tx`. It may run twice, if
   * another job of its transaction fails halfway.
   */
  write<T>(fn: (tx: WriteTx) => Promise<T>, options?: WriteOptions<T>): Promise<T>;
  /** Removes traces of deleted rows from the database's log, if it has one. */
  rotate(): Promise<void>;
  /** Takes in what other processes have committed. Resolves at once where there can't be any. */
  catchUp(): Promise<void>;
  /** Finishes queued jobs first. */
  close(): Promise<void>;
}

/** A position in a database's log, which replicas follow. */
export interface LogPosition {
  /** A random name for one history of the file. Generation numbers of different histories aren't comparable. */
  readonly epoch: string;
  /** Counts the restarts of the log in this history, from 1. */
  readonly generation: number;
  /** The number of committed frames in this generation. */
  readonly frames: number;
  /** Bytes 8 to 15 of each frame's header in hex: SQLite's salts. Null if the generation has no frames. */
  readonly salts: string | null;
}

/** The current position of a database. */
export interface ReplicationPosition {
  /** The number of the newest commit. */
  readonly position: number;
  /** Null if nobody follows the log, or if we don't know from which frame on it is readable. */
  readonly log: LogPosition | null;
}

/** A copy of the database file as it was when a generation began. */
export interface BaseCopy {
  readonly epoch: string;
  readonly generation: number;
  readonly path: string;
  readonly sizeBytes: number;
}

/**
 * A log that replicas can follow. It is kept in generations, from the first `follow` until a day after the last one.
 */
export interface FollowedLog {
  /** The current position of the database. */
  readonly replication: ReplicationPosition;
  /** Asks to keep the log; repeat it every hour. UNAVAILABLE while another process is in the way. */
  follow(): Promise<ReplicationPosition>;
  /** UNAVAILABLE if the log isn't kept, or while another process is in the way. */
  copyBase(): Promise<BaseCopy>;
}
