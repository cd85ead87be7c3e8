import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ProjectReader } from '../../shared/store/project-store.ts';
import type { Link } from './link.ts';
import type { Prepared } from './messages.ts';
import { noteFold } from './fold.ts';
import type { ReplicaFolder, SyncedTo } from './replica-folder.ts';
import { ReplicaReader, type CopyPosition } from './replica-reader.ts';
import { SyncError } from './sync-failure.ts';
import { SyncProcess } from './sync-process.ts';

/** The process of a daemon that was killed may outlive it by a moment. */
const LOCK_ATTEMPTS = 10;
const LOCK_PAUSE_MS = 100;

export interface LocalCopyOptions {
  readonly folder: ReplicaFolder;
  readonly projectId: string;
  /** The one schema that may be read. */
  readonly schemaVersion: number;
  readonly log: Logger;
  /** A synchronization that neither ends nor moves on for so long is given up, and its process with it. */
  readonly silenceMs: number;
  /** Reading found the file damaged. */
  readonly onDamage: (error: Error) => void;
}

/** The database file of a copy: a connection to read it, and a process that brings it up to date. */
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

  /** Null while there is no copy that was found in order. */
  get store(): ProjectReader | null {
    return this.#store;
  }

  /** Of the process that synchronizes; for tests, which end it. */
  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  /** Looks at all of the copy in the folder, and opens it for reading. Rejects with `SyncError`. */
  async open(): Promise<void> {
    await this.#start();
    this.#openReader();
  }

  /** Makes ready to synchronize: nothing is done where that is so already. Rejects with `SyncError`. */
  async connect(link: Link): Promise<void> {
    // Whoever asked before may have gone; what was begun for him is not disturbed.
    if (this.#connecting) await this.#connecting.catch(() => undefined);
    this.#connecting = this.#connect(link).finally(() => {
      this.#connecting = null;
    });
    await this.#connecting;
  }

  /** Takes over what the gateway has. One at a time: who asks meanwhile gets the one at hand. Rejects with `SyncError`. */
  sync(): Promise<void> {
    this.#syncing ??= this.#sync().finally(() => {
      this.#syncing = null;
    });
    return this.#syncing;
  }

  /** Makes ready for the client to fold the log of a generation in that has ended. Rejects with `SyncError`. */
  async noteFold(ended: SyncedTo): Promise<void> {
    // Who asked was ended, and his copy may be gone.
    if (!this.#process) throw new SyncError('ended', "The replica process isn't running.");
    // Nobody folds the log in while it is read for one who was killed.
    const noted = this.#noting.then(() => noteFold(this.#options.folder, ended));
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

  /** Removes the copy, and whatever is left of one. */
  async erase(): Promise<void> {
    await this.close();
    this.#options.folder.erase();
  }

  /** Ends after the reads at hand. */
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

  #take(prepared: Prepared): void {
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
