import type { ProjectInfo, ServerInfo } from '../../shared/kernel/context.ts';
import type { BaseCopy, ReplicationPosition } from '../../shared/store/driver.ts';
import type { DatabaseLocation } from '../../shared/store/location.ts';
import type { Effect } from './job.ts';
import type { InputOf, OutputOf, CommandName } from './commands.ts';

/** What the writing side of a gateway needs to know. Plain data, but for the last. */
export interface WritersOptions {
  readonly masterKey: Uint8Array;
  readonly server: ServerInfo;
  /** The disk failed a write, or the thread that writes has ended: this process must not go on. */
  readonly onFatal: (error: unknown) => void;
}

export interface WritableProject {
  readonly info: ProjectInfo;
  /** Of its database, which is made when it is not there. */
  readonly location: DatabaseLocation;
  /** The name under which this process pins blobs; none where it has the database for itself. */
  readonly pinHolder?: string | null;
  /** Its database was made before: one that is lost is not made anew. */
  readonly isMade?: boolean;
}

/** The writing side of a project. */
export interface ProjectWrites {
  /** Runs a command in a transaction; its answer comes when that is durable, after its effects were applied. */
  run<N extends CommandName>(name: N, input: InputOf<N>): Promise<OutputOf<N>>;
  /**
   * Keeps the log for replicas from here on, for a day after the last call: its generations are archived before they are
   * begun anew. Answers where the log stands; once a replica follows, ask again every hour.
   */
  follow(): Promise<ReplicationPosition>;
  /** Makes a copy of the file as it stood when the generation at hand began, unless there is one. It stays for a while. */
  copyBase(): Promise<BaseCopy>;
  /** Takes what was deleted out of the write-ahead log as well. */
  rotate(): Promise<void>;
}

/** The same while its database is open. */
export interface OpenWrites extends ProjectWrites {
  /** The key of the digests in the project's ledger. */
  readonly ledgerKey: Uint8Array;
  close(): Promise<void>;
}

/** Where the transactions of all projects run. */
export interface Writers {
  /** Opens a project for writing, which brings its tables up to date. `apply` gets the effects of what was committed. */
  open(
    project: WritableProject,
    onCommitted: (effects: readonly Effect[]) => void,
  ): Promise<OpenWrites>;
  /** How many calls are not answered yet, where they run in another thread. */
  readonly waiting?: number;
  close(): Promise<void>;
}
