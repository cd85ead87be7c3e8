import type { ProjectInfo, ServerInfo } from '../../../shared/kernel/context.ts';
import type { BaseCopy, ReplicationPosition } from '../../../shared/store/engine/driver.ts';
import type { DatabaseLocation } from '../../../shared/store/engine/location.ts';
import type { Effect } from '../context/job.ts';
import type { InputOf, OutputOf, CommandName } from '../commands.ts';

/** What the write side of a gateway needs. Plain data, except `onFatal`. */
export interface WritersOptions {
  readonly masterKey: Uint8Array;
  readonly server: ServerInfo;
  /** The disk failed a write, or the writer thread ended: this process must stop. */
  readonly onFatal: (error: unknown) => void;
}

export interface WritableProject {
  readonly info: ProjectInfo;
  /** The location of its database, created on first use. */
  readonly location: DatabaseLocation;
  /** The name under which this process pins blobs; null if no other process uses the database. */
  readonly pinHolder?: string | null;
  /** The database existed before, so a missing one is an error and isn't created again. */
  readonly isMade?: boolean;
}

/** The write side of a project. */
export interface ProjectWrites {
  /** Runs a command in a transaction; resolves after the transaction is durable and its effects are applied. */
  run<N extends CommandName>(name: N, input: InputOf<N>): Promise<OutputOf<N>>;
  /**
   * Keeps the log for replicas, until a day after the last call: each generation is archived before the next one
   * starts. Returns the log's position; while a replica follows, call this every hour.
   */
  follow(): Promise<ReplicationPosition>;
  /**
   * Copies the file as it was at the start of the current generation, unless a copy exists. The copy stays for a
   * while.
   */
  copyBase(): Promise<BaseCopy>;
  /** Removes deleted data from the write-ahead log as well. */
  rotate(): Promise<void>;
}

/** Runs the transactions of all projects. The calls are those of `ProjectWrites`, for projects that are open. */
export interface Writers {
  /**
   * Opens a project for writing and migrates its tables. `onCommitted` gets the effects of each commit. Returns the
   * key for digests in the project's ledger.
   */
  open(
    project: WritableProject,
    onCommitted: (effects: readonly Effect[]) => void,
  ): Promise<Uint8Array>;
  run<N extends CommandName>(projectId: string, name: N, input: InputOf<N>): Promise<OutputOf<N>>;
  follow(projectId: string): Promise<ReplicationPosition>;
  copyBase(projectId: string): Promise<BaseCopy>;
  /** Takes in what other gateways have committed by now. */
  catchUp(projectId: string): Promise<void>;
  rotate(projectId: string): Promise<void>;
  closeProject(projectId: string): Promise<void>;
  /** How many calls are pending, if they run in another thread. */
  readonly waiting?: number;
  close(): Promise<void>;
}
