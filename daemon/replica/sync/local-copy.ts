import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ProjectReader } from '../../../shared/store/project-store.ts';
import type { Link } from './link.ts';
import type { PrepareResult } from './messages.ts';
import { noteCheckpoint } from './checkpoint-sums.ts';
import type { ReplicaFolder, SyncedTo } from './replica-folder.ts';
import { ReplicaReader, type CopyPosition } from '../serve/replica-reader.ts';
import { SyncError } from './sync-failure.ts';
import { SyncProcess } from './sync-process.ts';

/** The sync process of a killed daemon may outlive it for a moment, and hold the lock. */
const LOCK_ATTEMPTS = 10;
const LOCK_PAUSE_MS = 100;

export interface LocalCopyOptions {
  readonly folder: ReplicaFolder;
  readonly projectId: string;
  /** The only schema version we can read. */
  readonly schemaVersion: number;
  readonly log: Logger;
  /** Kills the process of a sync that makes no progress for this long. */
  readonly silenceMs: number;
  /** Called when a read finds the file damaged. */
  readonly onDamage: (error: Error) => void;
}

/** A replica's database file: a connection that reads it, and a process that syncs it. */
export class LocalCopy {
  readonly #options: LocalCopyOptions;
  #process: SyncProcess | null = null;
  #linkedTo: Link | null = null;
  #reader: ReplicaReader | null = null;
  #store: ProjectReader | null = null;
  #connecting: Promise<void> | null = null;
  #syncing: Promise<void> | null = null;
  #noting: Promise<void> = Promise.resolve();

  constructor(options: LocalCopyOptions) {
    this.#options = options;
  }

  /** Null until `open` has found the replica intact. */
  get store(): ProjectReader | null {
    return this.#store;
  }

  /** The sync process's pid, for tests that kill it. */
  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  /** Checks the whole replica in the folder, and opens it for reads. Rejects with `SyncError`. */
  async open(): Promise<void> {
    await this.#start();
    this.#openReader();
  }

  /** Prepares for sync; does nothing if that's done. Rejects with `SyncError`. */
  async connect(link: Link): Promise<void> {
    // An earlier caller may have left: let the work that it started finish.
    if (this.#connecting) await this.#connecting.catch(() => undefined);
    this.#connecting = this.#connect(link).finally(() => {
      this.#connecting = null;
    });
    await this.#connecting;
  }

  /** Syncs with the gateway. A call during a sync joins it. Rejects with `SyncError`. */
  sync(): Promise<void> {
    this.#syncing ??= this.#sync().finally(() => {
      this.#syncing = null;
    });
    return this.#syncing;
  }

  /** Prepares for the client to checkpoint the log of an ended generation. Rejects with `SyncError`. */
  async noteCheckpoint(ended: SyncedTo): Promise<void> {
    // Somebody killed the process that asked, and its replica may be gone.
    if (!this.#process) throw new SyncError('ended', "The replica process isn't running.");
    // Run one at a time: no client may checkpoint the log while we still read it for a killed one.
    const noted = this.#noting.then(() => noteCheckpoint(this.#options.folder, ended));
    this.#noting = noted.catch(() => undefined);
    try {
      await noted;
    } catch (error) {
      if (error instanceof SyncError) this.#options.onDamage(error);
      throw error;
    }
  }

  position(): Promise<CopyPosition> {
    if (!this.#reader) return Promise.reject(new SyncError('ended', 'The replica is closed.'));
    return this.#reader.position();
  }

  /** Removes the replica, and the remains of an incomplete one. */
  async erase(): Promise<void> {
    await this.close();
    this.#options.folder.erase();
  }

  /** Resolves after the running reads. */
  async close(): Promise<void> {
    const reader = this.#reader;
    this.#reader = null;
    this.#store = null;
    await reader?.close();
    await this.#stop();
    await this.#noting;
  }

  async #connect(link: Link): Promise<void> {
    if (this.#process === null || this.#process.hasEnded) {
      await this.#start();
      this.#openReader();
    }
    if (this.#linkedTo?.syncUrl === link.syncUrl) return;
    const { folder, silenceMs } = this.#options;
    await this.#process?.open(folder.path, link, silenceMs);
    this.#linkedTo = link;
  }

  async #sync(): Promise<void> {
    const { folder, silenceMs } = this.#options;
    const { progress } = this.#linkedTo ?? {};
    if (!this.#process) throw new SyncError('ended', "The replica process isn't running.");
    await this.#process.sync(silenceMs, () => `${folder.fingerprint()} ${progress?.()}`);
  }

  async #start(): Promise<void> {
    const { folder, log } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      await this.#stop();
      const process = new SyncProcess(log);
      this.#process = process;
      const prepared = await process.prepare(folder.path);
      if (prepared.state !== 'locked' || attempt === LOCK_ATTEMPTS) return this.#take(prepared);
      await sleep(LOCK_PAUSE_MS);
    }
  }

  #take(prepared: PrepareResult): void {
    if (prepared.state === 'damaged') throw new SyncError('damaged', prepared.reason);
    if (prepared.state === 'locked')
      throw new SyncError('ended', 'Another process is using the replica.');
  }

  #openReader(): void {
    if (this.#reader) return;
    const { folder, projectId, schemaVersion, onDamage } = this.#options;
    this.#reader = new ReplicaReader(folder.databasePath, schemaVersion, onDamage);
    this.#store = new ProjectReader(this.#reader, projectId);
  }

  async #stop(): Promise<void> {
    const process = this.#process;
    this.#process = null;
    this.#linkedTo = null;
    await process?.kill();
  }
}
