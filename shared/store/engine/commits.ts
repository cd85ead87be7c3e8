import type { Connection } from './connection.ts';
import type { Query } from './driver.ts';

/**
 * Decides which groups of a writer count. `position` is the number of the newest group in the file. Everything but
 * `newest` runs while nothing else uses the connection.
 */
export interface Commits {
  /** Whether `accepts` needs the statements of a group. */
  readonly needsStatements: boolean;
  /**
   * Whether the group of the open transaction may be committed, as the next one after this position. If not, it was undone
   * here: what came first has to be taken in, and its jobs run again.
   */
  accepts(position: number, statements: readonly Query[]): Promise<boolean>;
  /** The error to report if an accepted group couldn't be committed to the file. */
  failureOf(error: unknown): unknown;
  /** The number of the newest group anywhere. */
  newest(position: number): Promise<number>;
  /** The same for a file that was just opened. Throws if its history can't be continued. */
  resumeAt(position: number): Promise<number>;
  /** Throws if this number, of `newest`, shows that the file's history is another one. */
  refuseLost(position: number, newest: number): void;
  /** Begins a transaction with some groups from elsewhere, for the caller to commit. Returns how many they are. */
  refresh(position: number): Promise<number>;
  /** They're committed here; nothing else has run since. */
  tookIn(): void;
  /** The open group was undone; its jobs run again or are refused. */
  undone(): void;
  /** A group failed, and its jobs know. Returns whether nothing more may be written to the file. */
  failed(error: unknown, cause: unknown): boolean;
  /** Nothing more is written to the file. Returns false if the process has to end because of that. */
  stopped(cause: unknown): boolean;
  close(): void;
}

/** Makes what decides, once the writer's connection is open. */
export type OpenCommits = (connection: Connection) => Commits;

const nothing = (): void => undefined;

/** For a database that is this file alone: each group counts once it's in the file. */
export const OWN_COMMITS: Commits = {
  needsStatements: false,
  accepts: async () => true,
  failureOf: (error) => error,
  newest: async (position) => position,
  resumeAt: async (position) => position,
  refuseLost: nothing,
  refresh: async () => 0,
  tookIn: nothing,
  undone: nothing,
  failed: () => false,
  stopped: () => false,
  close: nothing,
};
