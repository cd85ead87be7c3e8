import { mkdirSync } from 'node:fs';
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
import { KnownKeys } from './known-keys.ts';
import { Transfer } from './links/transfer.ts';
import type { Letters } from './people/letters.ts';
import type { People } from './people/people.ts';
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
  /** Work that nobody waits for; its errors are logged. */
  inBackground(projectId: string, work: () => Promise<void>): void;
  /** Asks for upkeep of the project at this time or before. */
  atLatest(projectId: string, dueAt: number): void;
}

/** A source ready to check deliveries, its secret opened. */
export interface OpenSource {
  readonly row: SourceRow;
  readonly secret: string | null;
}

/** An open project: its two sides, its blobs, its waits and its voice in the ledger. */
export class Project {
  readonly info: ProjectInfo;
  readonly store: ProjectReader;
  readonly writes: ProjectWrites;
  readonly recorder: Recorder;
  readonly blobs: FileBlobStore | S3BlobStore;
  /** Null where uploads come through the gateway. */
  readonly directUploads: BucketUploads | null;
  /** What is pushed to callbacks. */
  readonly deliveries: Deliveries;
  readonly callbacks: OutboundCallbacks;
  readonly transfer: Transfer;
  /** What people are sent. */
  readonly letters: Letters;
  readonly waits = new Waits();
  /** Sources by their hook token, read once; emptied whenever a source changes. */
  readonly sourceCache = new Map<string, OpenSource>();
  /** Keys by the hash of their secret, read once; emptied whenever a key changes. */
  readonly knownKeys = new KnownKeys();
  /** How far the database has come: the newest commit this process knows of. */
  #standing: Standing = { position: 0, log: null };
  readonly #host: ProjectHost;

  private constructor(
    info: ProjectInfo,
    sides: { store: ProjectReader; writes: ProjectWrites },
    host: ProjectHost,
  ) {
    this.info = info;
    this.store = sides.store;
    this.writes = sides.writes;
    this.recorder = new Recorder(sides.writes.ledgerKey);
    this.#host = host;
    this.callbacks = host.callbacks;
    this.deliveries = host.callbacks.deliveriesOf(this);
    this.letters = host.people.lettersOf(this);
    this.transfer = new Transfer(sides.writes, (work) => this.inBackground(work));
    const folder = join(projectFolder(host, info.id), 'blobs');
    // A write that was refused has left its bytes; a deletion may have met a pin.
    const onFree = (digest: string): void => this.inBackground(() => this.removeBlob(digest));
    this.blobs = host.bucket
      ? new S3BlobStore(host.bucket, info.id, onFree)
      : new FileBlobStore(folder, onFree);
    this.directUploads =
      this.blobs instanceof S3BlobStore ? new BucketUploads(sides, this.blobs, host.clock) : null;
  }

  static async open(info: ProjectInfo, host: ProjectHost): Promise<Project> {
    const folder = projectFolder(host, info.id);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, 'project.db');
    let project: Project | null = null;
    const writes = await host.writers.open({ info, path }, (effects) => {
      if (project) project.#apply(effects);
    });
    try {
      const store = ProjectReader.openEmbedded(path, info.id);
      project = new Project(info, { store, writes }, host);
      return project;
    } catch (error) {
      await writes.close();
      throw error;
    }
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

  async close(): Promise<void> {
    this.waits.close();
    await this.deliveries.close();
    await this.transfer.close();
    await this.store.close();
    await this.writes.close();
  }

  /** What was committed changes what is held in memory, and wakes who waits for it. */
  #apply(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'committed') this.#standing = effect.standing;
      else applyEffect(this, effect);
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

function projectFolder(host: ProjectHost, projectId: string): string {
  return join(host.dataFolder, 'projects', projectId);
}
