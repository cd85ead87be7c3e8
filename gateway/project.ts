import { join } from 'node:path';
import type { Clock } from '../shared/clock.ts';
import type { ProjectInfo } from '../shared/context.ts';
import type { Standing } from '../shared/store/driver.ts';
import { ProjectReader } from '../shared/store/project-store.ts';
import type { SourceRow } from '../shared/store/sources.ts';
import { FileBlobStore } from './blobs/blob-store.ts';
import { BucketUploads } from './blobs/direct-uploads.ts';
import { S3BlobStore } from './blobs/s3-blob-store.ts';
import type { S3Client } from './blobs/s3-client.ts';
import type { OutboundCallbacks } from './callbacks/callbacks.ts';
import type { Deliveries } from './callbacks/deliveries.ts';
import { KnownKeys } from '../shared/known-keys.ts';
import { Transfer } from './links/transfer.ts';
import type { Mails } from './mail/outbound/mails.ts';
import type { Letters } from './people/letters.ts';
import type { People } from './people/people.ts';
import { Feed } from './replica/feed.ts';
import type { Observer } from './observer.ts';
import type { OpenFiles } from './open-files.ts';
import { ProjectFiles, type FilesHost } from './project-files.ts';
import { Recorder } from './recorder.ts';
import { Waits } from '../shared/waits.ts';
import type { Effect } from './writes/job.ts';
import type { ProjectWrites, Writers } from './writes/writers.ts';

/** What a project needs of the gateway it is open in. */
export interface ProjectHost {
  readonly dataFolder: string;
  readonly clock: Clock;
  readonly writers: Writers;
  /** Where blobs are kept; null keeps them beside the databases. */
  readonly bucket: S3Client | null;
  readonly callbacks: OutboundCallbacks;
  readonly people: People;
  readonly openFiles: OpenFiles;
  /** Before the first write after a rest: see `FilesHost`. */
  beginWork(projectId: string): Promise<void>;
  /** Before the files are closed: see `FilesHost`. */
  beforeRest(projectId: string, store: ProjectReader): Promise<(() => void) | null>;
  /** Work that nobody waits for; its errors are logged. */
  inBackground(projectId: string, work: () => Promise<void>): void;
  /** Asks for upkeep of the project at this time or before. */
  atLatest(projectId: string, dueAt: number): void;
  readonly observer?: Observer | undefined;
}

/** A source ready to check deliveries, its secret opened. */
export interface OpenSource {
  readonly row: SourceRow;
  readonly secret: string | null;
}

/**
 * A project: its two sides, its blobs, its waits and its voice in the ledger. Its database is opened by the first call that
 * needs it, and may be closed between any two.
 */
export class Project {
  readonly info: ProjectInfo;
  readonly store: ProjectReader;
  readonly writes: ProjectWrites;
  readonly blobs: FileBlobStore | S3BlobStore;
  /** Null where uploads come through the gateway. */
  readonly directUploads: BucketUploads | null;
  /** What is pushed to callbacks. */
  readonly deliveries: Deliveries;
  readonly callbacks: OutboundCallbacks;
  readonly transfer: Transfer;
  /** What people are sent. */
  readonly letters: Letters;
  /** What agents send. */
  readonly mails: Mails;
  readonly waits = new Waits();
  /** Those who are told of every commit. */
  readonly feed: Feed;
  /** The database file; its log stands beside it. */
  readonly databasePath: string;
  /** Sources by their hook token, read once; emptied whenever a source changes. */
  readonly sourceCache = new Map<string, OpenSource>();
  /** Keys by the hash of their secret, read once; emptied whenever a key changes. */
  readonly knownKeys = new KnownKeys();
  /** How far the database has come: the newest commit this process knows of. */
  #standing: Standing = { position: 0, log: null };
  #recorder: Recorder | null = null;
  readonly #files: ProjectFiles;
  readonly #host: ProjectHost;

  /** `isResting`: an earlier run has left it with nothing under way. */
  constructor(info: ProjectInfo, host: ProjectHost, isResting: boolean) {
    this.info = info;
    this.#host = host;
    const folder = join(host.dataFolder, 'projects', info.id);
    this.databasePath = join(folder, 'project.db');
    this.feed = new Feed(() => this.#standing, host.clock);
    this.#files = new ProjectFiles(this.#filesHost(folder), isResting);
    this.store = new ProjectReader(this.#files, info.id);
    this.writes = this.#files;
    this.callbacks = host.callbacks;
    this.deliveries = host.callbacks.deliveriesOf(this);
    this.letters = host.people.lettersOf(this);
    this.transfer = new Transfer(this.writes, (work) => this.inBackground(work));
    // A write that was refused has left its bytes; a deletion may have met a pin.
    const onFree = (digest: string): void => this.inBackground(() => this.removeBlob(digest));
    this.blobs = host.bucket
      ? new S3BlobStore(host.bucket, info.id, onFree)
      : new FileBlobStore(join(folder, 'blobs'), onFree);
    this.mails = host.people.mailsOf(this);
    this.directUploads =
      this.blobs instanceof S3BlobStore ? new BucketUploads(this, this.blobs, host.clock) : null;
  }

  /** Its voice in the ledger. The key of that is in the database, so the first call opens it. */
  async recorder(): Promise<Recorder> {
    return (this.#recorder ??= new Recorder(await this.#files.ledgerKey()));
  }

  #filesHost(folder: string): FilesHost {
    const host = this.#host;
    const { id } = this.info;
    return {
      info: this.info,
      folder,
      writers: host.writers,
      openFiles: host.openFiles,
      apply: (effects) => this.#apply(effects),
      isHeld: () => this.#isHeld,
      beginWork: () => host.beginWork(id),
      beforeRest: (store) => host.beforeRest(id, store),
      closed: () => this.#forget(),
      onError: (error) =>
        this.inBackground(async () => {
          throw error;
        }),
    };
  }

  /** Deletes a blob that no row names any more. */
  removeBlob(digest: string): Promise<void> {
    return this.blobs.remove(digest, (one) =>
      this.store.read((store) => store.blobs.isReferenced(one)),
    );
  }

  /** The number of the newest commit. */
  get position(): number {
    return this.#standing.position;
  }

  /** The newest commit, and where it stands in the log that replicas follow. */
  get standing(): Standing {
    return this.#standing;
  }

  atLatest(dueAt: number): void {
    this.#host.atLatest(this.info.id, dueAt);
  }

  /** Runs what nobody waits for; closing does, and its errors are logged. */
  inBackground(work: () => Promise<void>): void {
    this.#host.inBackground(this.info.id, work);
  }

  /** Ends all waits as at their timeouts, and all streams. */
  endWaits(): void {
    this.waits.close();
    this.feed.close();
  }

  async close(): Promise<void> {
    this.endWaits();
    await this.deliveries.close();
    await this.transfer.close();
    await this.#files.close();
  }

  /** What would open the files again at once if they were closed, or must not wait until they are open. */
  get #isHeld(): boolean {
    const { waits, feed, deliveries, letters, mails, transfer } = this;
    return (
      waits.size > 0 ||
      feed.size > 0 ||
      [deliveries, letters, mails, transfer].some(({ isBusy }) => isBusy)
    );
  }

  /** What is read again when the files are opened the next time. */
  #forget(): void {
    this.#standing = { position: this.#standing.position, log: null };
    this.sourceCache.clear();
    this.knownKeys.clear();
  }

  /** What was committed changes what is held in memory, and wakes who waits for it. */
  #apply(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'committed') this.#standing = effect.standing;
      else applyEffect(this, effect);
      if (effect.kind === 'event_ready') this.#host.observer?.eventReady();
      this.feed.note(effect);
    }
  }
}

type OtherEffect = Exclude<Effect, { kind: 'committed' }>;
type Appliers = {
  [K in OtherEffect['kind']]: (project: Project, effect: Extract<OtherEffect, { kind: K }>) => void;
};

const APPLIERS: Appliers = {
  event_ready: ({ waits }, effect) => waits.notify({ ...effect, kind: 'event' }),
  request_ended: ({ waits }, { id }) => waits.notify({ kind: 'request', id }),
  notices_due: ({ letters }) => letters.wake(),
  mails_due: ({ mails }) => mails.wake(),
  due: (project, { at }) => project.atLatest(at),
  sources_changed: ({ sourceCache }) => sourceCache.clear(),
  callbacks_changed: ({ deliveries }) => deliveries.forget(),
  delivery_due: ({ deliveries }, { destination }) => deliveries.wake(destination),
  blob_dropped: (project, { digest }) => project.inBackground(() => project.removeBlob(digest)),
  keys_changed: ({ knownKeys }) => knownKeys.clear(),
  key_ended: ({ knownKeys, waits }, { keyId }) => {
    knownKeys.clear();
    waits.endOf(keyId);
  },
};

function applyEffect<K extends OtherEffect['kind']>(
  project: Project,
  effect: Extract<OtherEffect, { kind: K }>,
): void {
  APPLIERS[effect.kind](project, effect);
}
