import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Admission } from '../../shared/admission/admission.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { Callbacks, ProjectInfo } from '../../shared/kernel/context.ts';
import { VersionedCache } from '../../shared/lib/versioned-cache.ts';
import type { ReplicationPosition } from '../../shared/store/engine/driver.ts';
import { fileOf } from '../../shared/store/engine/location.ts';
import { ProjectReader } from '../../shared/store/project-store.ts';
import type { FileBlobStore } from '../blobs/blob-store.ts';
import { BucketUploads } from '../blobs/direct-uploads.ts';
import { openBlobs, type BlobPlace } from '../blobs/open-blobs.ts';
import { S3BlobStore } from '../blobs/s3-blob-store.ts';
import type { Coordination, ProjectCoordination } from '../cluster/coordination.ts';
import type { Databases } from '../store/databases.ts';
import type { DiskSpace } from './limits/disk-space.ts';
import { KeyCache } from '../../shared/kernel/key-cache.ts';
import type { MailCeilings } from './limits/mail-ceilings.ts';
import { MemberFollower } from './member-follower.ts';
import { Transfer } from './transfer.ts';
import { SourceCache } from './source-cache.ts';
import { EventSearches } from './event-search.ts';
import { CountPace } from './count-pace.ts';
import { Feed } from './feed.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { DatabasePool } from './database-pool.ts';
import { ProjectDatabase, type ProjectDatabaseDeps } from './project-database.ts';
import { LedgerWriter } from '../commit/context/ledger-writer.ts';
import { Pace } from '../../shared/kernel/pace.ts';
import { Waits } from '../../shared/kernel/waits.ts';
import type { PushSender, Sender, Senders } from './senders.ts';
import { WriteGate, type MigrationState } from './write-gate.ts';
import { Watchers } from './watchers.ts';
import type { Effect } from '../commit/context/job.ts';
import { applyEffect } from './apply-effect.ts';
import type { ProjectWrites, Writers } from '../commit/thread/writers.ts';

/** Longer than a callback receiver has to answer. */
const DRAIN_MS = 20_000;
const DRAIN_POLL_MS = 10;

/** What a project needs from its gateway. */
export interface ProjectDeps extends Senders, BlobPlace {
  readonly dataFolder: string;
  readonly databases: Databases;
  readonly clock: Clock;
  readonly writers: Writers;
  /** Limits the waits and streams that are open. */
  readonly admission: Admission;
  /** The room on the disks of both. */
  readonly disk: DiskSpace;
  readonly pool: DatabasePool;
  /** Ceilings of agents' mail over several projects. */
  readonly mailCeilings: MailCeilings;
  readonly coordination: Coordination;
  /** Called before the first write after an idle period: see `ProjectDatabaseDeps`. */
  beginWork(projectId: string): Promise<void>;
  /** Called before the files are closed: see `ProjectDatabaseDeps`. */
  beforeIdle(projectId: string, store: ProjectReader): Promise<(() => void) | null>;
  /** Runs work that nobody waits for; logs its errors. */
  inBackground(projectId: string, work: () => Promise<void>): void;
  /** Takes over a change of the members, so that they find the project when they sign in. */
  readonly directory: { follow(project: Project): Promise<void> };
  /** Does what an owner changed about the project itself; false if they deleted it. */
  followOwner(project: Project): Promise<boolean>;
  /** Asks for maintenance of the project by this time. */
  atLatest(projectId: string, dueAt: number): void;
  readonly metrics?: Metrics | undefined;
}

/** What is known of a project when it's first asked for. */
interface ProjectStart {
  /** An earlier run left no work under way. */
  readonly isIdle: boolean;
  /** Its database has been created. */
  readonly isMade: boolean;
  readonly migrationState: MigrationState;
}

/**
 * A project: its reads and writes, its blobs, its waits and its ledger writer. The first call that needs the database
 * opens it, and it may be closed between any two calls.
 */
export class Project {
  readonly store: ProjectReader;
  /** Reads what this gateway has, without asking for what others committed: for what a write checks again. */
  readonly localStore: ProjectReader;
  readonly writes: ProjectWrites;
  readonly blobs: FileBlobStore | S3BlobStore;
  /** Null if uploads go through the gateway. */
  readonly directUploads: BucketUploads | null;
  /** Pushes events to callbacks. */
  readonly deliveries: PushSender;
  readonly callbacks: Callbacks;
  readonly transfer: Transfer;
  readonly mailCeilings: MailCeilings;
  /** Sends notifications to people. */
  readonly notifications: Sender;
  /** Sends agents' mail. */
  readonly mails: Sender;
  readonly waits: Waits;
  readonly pace: Pace;
  readonly members: MemberFollower;
  /** Followers that get every commit. */
  readonly feed: Feed;
  /** Open pages that want to know what changed. */
  readonly watchers: Watchers;
  /** The database file; its log is in the same folder. */
  readonly databasePath: string;
  readonly searches: EventSearches;
  readonly sourceCache: SourceCache;
  /** Keys by the hash of their secret, read once; cleared whenever a key changes. */
  readonly keyCache: KeyCache;
  readonly coordination: ProjectCoordination;
  readonly dueRows: ProjectCoordination['dueRows'];
  readonly dueDeliveries: ReturnType<ProjectCoordination['newDeliveries']>;
  /** The newest commit this process knows of. */
  #replication: ReplicationPosition = { position: 0, log: null };
  readonly #countPace: CountPace;
  #ledgerWriter: LedgerWriter | null = null;
  #info: ProjectInfo;
  readonly #gate: WriteGate;
  readonly #database: ProjectDatabase;
  readonly #deps: ProjectDeps;

  constructor(
    info: ProjectInfo,
    deps: ProjectDeps,
    { isIdle, isMade, migrationState }: ProjectStart,
  ) {
    this.#info = info;
    this.#deps = deps;
    this.#countPace = new CountPace(deps.clock, (dueAt) => this.atLatest(dueAt));
    this.coordination = deps.coordination.ofProject(this);
    this.#gate = new WriteGate(migrationState, () => this.coordination.mayWrite);
    const location = deps.databases.ofProject(info.id);
    this.databasePath = fileOf(location);
    const remembering = { remembers: this.coordination.writesAlone };
    this.sourceCache = new SourceCache(remembering);
    this.keyCache = new KeyCache(remembering);
    const watch = (): void => this.coordination.watch();
    const { admission } = deps;
    this.waits = new Waits({ admission, projectId: info.id, onEnter: watch });
    this.pace = new Pace(info.id, admission);
    this.members = new MemberFollower(() => deps.directory.follow(this));
    this.watchers = new Watchers(watch);
    this.feed = new Feed(() => this.#replication, deps.clock, {
      hold: (key) => admission.hold('streams of changes', { key, project: info.id }),
      onJoined: watch,
    });
    this.#database = new ProjectDatabase(this.#databaseDeps({ location, isMade }), isIdle);
    this.store = new ProjectReader(this.#database, info.id);
    this.localStore = new ProjectReader(this.#database.local, info.id);
    this.searches = new EventSearches(this, deps.clock, this.coordination.writesAlone);
    this.writes = this.#database;
    this.dueRows = this.coordination.dueRows;
    this.dueDeliveries = this.coordination.newDeliveries();
    this.mailCeilings = deps.mailCeilings;
    this.callbacks = deps.callbacks;
    this.deliveries = deps.callbacks.deliveriesOf(this);
    this.notifications = deps.messaging.notificationsOf(this);
    this.transfer = new Transfer(this.writes, (work) => this.inBackground(work));
    // A refused write leaves its bytes behind, and a deletion may have met a pin.
    const onFree = (digest: string): void => this.inBackground(() => this.removeBlob(digest));
    this.blobs = openBlobs({
      ...deps,
      project: info.id,
      onFree,
      shared: this.coordination.newPins(),
      admit: (bytes) => deps.disk.admit(this, bytes),
      isReferenced: (digest) => this.#isReferenced(digest),
    });
    this.mails = deps.messaging.mailsOf(this);
    this.directUploads =
      this.blobs instanceof S3BlobStore ? new BucketUploads(this, this.blobs, deps.clock) : null;
    if (migrationState.kind !== 'active') this.#stopSending();
  }

  /** Its ledger writer. The signing key is in the database, so the first call opens it. */
  async ledgerWriter(): Promise<LedgerWriter> {
    return (this.#ledgerWriter ??= new LedgerWriter(await this.#database.ledgerKey()));
  }

  #databaseDeps(given: Pick<ProjectDatabaseDeps, 'location' | 'isMade'>): ProjectDatabaseDeps {
    const deps = this.#deps;
    const { id } = this.info;
    return {
      info: this.info,
      folder: dirname(this.databasePath),
      ...given,
      writers: deps.writers,
      pool: deps.pool,
      damage: deps.damage,
      gate: this.#gate,
      coordination: this.coordination,
      onCommitted: (effects) => this.#onCommitted(effects),
      isPinned: () => this.#isPinned,
      beginWork: () => deps.beginWork(id),
      beforeIdle: (store) => deps.beforeIdle(id, store),
      opened: () => this.inBackground(() => this.members.runOnce()),
      closed: () => this.#forget(),
      onError: (error) =>
        this.inBackground(async () => {
          throw error;
        }),
    };
  }

  /** A cache of what was read, which remembers nothing if others may change it unseen. */
  newCache<T>(): VersionedCache<T> {
    return new VersionedCache<T>({ remembers: this.coordination.writesAlone });
  }

  /** Whether anyone waits for changes in it. */
  get isAwaited(): boolean {
    return this.waits.size > 0 || this.feed.size > 0 || this.watchers.size > 0;
  }

  /** Whether its files are open, or about to be. */
  get isOpen(): boolean {
    return !this.#database.isClosed;
  }

  /** Takes in what other gateways have committed by now. */
  catchUp(): Promise<void> {
    return this.#database.catchUp();
  }

  /** Takes over work that an earlier gateway run left: the idle marker must be written again when it goes idle. */
  takeOver(): void {
    this.#database.wake();
    this.atLatest(this.#deps.clock.now());
  }

  /** Others look after its remaining work; the next write counts as the first after an idle period. */
  markIdle(): void {
    this.#database.markIdle();
  }

  get info(): ProjectInfo {
    return this.#info;
  }

  rename(name: string): void {
    this.#info = { ...this.#info, name };
  }

  /** See `ProjectDeps`. */
  followOwner(): Promise<boolean> {
    return this.#deps.followOwner(this);
  }

  /** Deletes a blob that no row refers to. */
  removeBlob(digest: string): Promise<void> {
    return this.blobs.remove(digest, (one) => this.#isReferenced(one));
  }

  #isReferenced(digest: string): Promise<boolean> {
    return this.store.read((store) => store.blobs.isReferenced(digest));
  }

  /** The number of the newest commit. */
  get position(): number {
    return this.#replication.position;
  }

  /** The newest commit and its position in the log that replicas follow. */
  get replication(): ReplicationPosition {
    return this.#replication;
  }

  atLatest(dueAt: number): void {
    this.#deps.atLatest(this.info.id, dueAt);
  }

  /** Gives back reserved messages that a write didn't take. */
  releaseMail(id: string): void {
    this.inBackground(() => this.mailCeilings.release(id));
  }

  /** Runs work that nobody waits for except `close`; logs its errors. */
  inBackground(work: () => Promise<void>): void {
    this.#deps.inBackground(this.info.id, work);
  }

  /** Whether it takes writes: it's neither read-only nor moved. */
  get isWritable(): boolean {
    return this.#gate.isOpen;
  }

  /**
   * Stops new writes. Resolves once writes already under way are done: sends get a time limit, and unfinished ones
   * are found again by their rows.
   */
  async makeReadonly(): Promise<void> {
    this.#gate.transitionTo({ kind: 'draining' });
    this.#stopSending();
    const until = performance.now() + DRAIN_MS;
    while (this.#isSending && performance.now() < until) await sleep(DRAIN_POLL_MS);
    // It may have been released in the meantime.
    if (this.#gate.isDraining) this.#gate.transitionTo({ kind: 'readonly' });
    await this.#gate.drained();
  }

  /** Undoes `makeReadonly`. */
  resume(): void {
    this.#gate.transitionTo({ kind: 'active' });
    this.notifications.resume();
    this.mails.resume();
    this.inBackground(() => this.deliveries.resume());
    this.atLatest(this.#deps.clock.now());
  }

  /** Stops answering anything. */
  moveAway(to: string | null): void {
    this.#gate.transitionTo({ kind: 'moved', to });
    this.endWaits();
  }

  /** Ends everything that is under way, and closes the files, before they are deleted. */
  async end(): Promise<void> {
    await this.makeReadonly();
    this.#gate.transitionTo({ kind: 'deleted' });
    // A mark that it is idle would only be in the way.
    this.markIdle();
    await this.close();
  }

  /** The state was changed elsewhere while this gateway didn't notice. */
  async transitionTo(to: MigrationState): Promise<void> {
    if (to.kind === 'moved') this.moveAway(to.to);
    else if (to.kind === 'deleted') await this.end();
    else if (to.kind === 'readonly') await this.makeReadonly();
    else if (!this.isWritable) this.resume();
  }

  get #isSending(): boolean {
    return [this.deliveries, this.notifications, this.mails].some(({ isBusy }) => isBusy);
  }

  #stopSending(): void {
    this.deliveries.stop();
    this.notifications.close();
    this.mails.close();
  }

  /** Ends all waits as if they timed out, and all streams. */
  endWaits(): void {
    this.coordination.close();
    this.waits.close();
    this.feed.close();
    this.watchers.close();
  }

  async close(): Promise<void> {
    this.endWaits();
    this.blobs.close();
    await this.deliveries.close();
    await this.transfer.close();
    await this.searches.close();
    await this.#database.close();
  }

  /** Whether its files must stay open: closing them would only reopen them, or something can't wait for that. */
  get #isPinned(): boolean {
    return this.isAwaited || this.#isSending || this.transfer.isBusy;
  }

  /** Clears caches that the next opening fills again. */
  #forget(): void {
    this.#replication = { position: this.#replication.position, log: null };
    this.sourceCache.clear();
    this.keyCache.clear();
    this.inBackground(() => this.searches.close());
  }

  /** Updates what is held in memory after a commit and wakes those waiting for it. */
  #onCommitted(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'committed') this.#replication = effect.replication;
      else if (effect.kind === 'outdated') void this.#database.evict();
      else if (effect.kind === 'uncertain') this.coordination.noteUncertain();
      else if (effect.kind !== 'damaged') applyEffect(this, effect);
      this.#countPace.note(effect);
      if (effect.kind === 'event_ready') this.#deps.metrics?.eventReady();
      this.feed.note(effect);
      this.watchers.note(effect);
    }
  }
}
