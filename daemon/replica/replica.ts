import type { Logger } from 'pino';
import { systemClock, type Clock } from '../../shared/lib/clock.ts';
import { newestSchema } from '../../shared/store/engine/migrate.ts';
import type { ProjectReader } from '../../shared/store/project-store.ts';
import { KeyCache } from '../../shared/kernel/key-cache.ts';
import type { Admission } from '../../shared/admission/admission.ts';
import { Pace } from '../../shared/kernel/pace.ts';
import { Waits } from '../../shared/kernel/waits.ts';
import { rememberHead } from '../ledger-heads.ts';
import { PositionWaiters } from './serve/position-waiters.ts';
import { Contact } from './sync/contact.ts';
import { logContact } from './sync/contact-log.ts';
import { ReplicaManager } from './replica-manager.ts';
import { FrameNumbers } from './verify/frame-numbers.ts';
import { FreshnessJudge } from './serve/freshness.ts';
import { CatchUp } from './sync/catch-up.ts';
import { LocalCopy } from './sync/local-copy.ts';
import { isTime, type StreamMessage, type GatewayPosition } from './serve/gateway-position.ts';
import { blockReasonOf, UnsupportedError, type BlockReason } from './block-reason.ts';
import { Pauses } from './sync/pauses.ts';
import { raceAndEnd } from './sync/race.ts';
import { ReplicaFolder } from './sync/replica-folder.ts';
import type { CopyPosition } from './serve/replica-reader.ts';
import { SourceError } from './sync/source-error.ts';
import { ReplicaSource } from './sync/source.ts';
import type { Freshness, ReplicaInfo, ReplicaStatus } from './status.ts';
import { StatusBoard } from './status-board.ts';
import { SyncRelay } from './sync/sync-relay.ts';
import { TIMING, type ReplicaTiming } from './sync/timing.ts';
import { HistoryVerifier } from './verify/history-verifier.ts';
import { OwnWrites } from './serve/own-writes.ts';

export interface ReplicaOptions {
  /** The folder of this project's replica; created if it's missing. */
  readonly folder: string;
  readonly projectId: string;
  readonly gateway: URL;
  readonly apiKey: string;
  readonly log: Logger;
  /** Where `svc ledger verify` remembers the newest entry that this machine knows. */
  readonly ledgerHeadsFile: string;
  /** What the daemon takes on at once. */
  readonly admission?: Admission;
  readonly clock?: Clock;
  /** The gateway answers again after a silence: connections from before may be dead. */
  readonly onReturn?: () => void;
  /** For tests. */
  readonly timing?: Partial<ReplicaTiming>;
}

/**
 * A replica of the gateway's project on this machine, synced in the background. It answers reads. Nobody ever writes
 * through it, and anybody may remove it at any time.
 */
export class Replica {
  /** Wakes waits once the replica has the changes they wait for. */
  readonly waits: Waits;
  readonly pace: Pace;
  /** Knows if the gateway is there. Whoever relays calls tells it what became of them. */
  readonly contact: Contact;
  /** The replica's keys by the hash of their secret. */
  readonly keyCache = new KeyCache();
  readonly #options: ReplicaOptions;
  readonly #timing: ReplicaTiming;
  readonly #clock: Clock;
  readonly #gatewayClock: Clock;
  readonly #schemaVersion = newestSchema('project');
  readonly #source: ReplicaSource;
  readonly #relay: SyncRelay;
  readonly #copy: LocalCopy;
  readonly #manager: ReplicaManager;
  readonly #board: StatusBoard;
  readonly #freshness: FreshnessJudge;
  readonly #positionWaiters: PositionWaiters;
  readonly #verifier: HistoryVerifier;
  readonly #ownWrites: OwnWrites;
  readonly #pauses: Pauses;
  readonly #closing = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #session: AbortController | null = null;
  /** True if we ended the session to begin another one. */
  #isRenewed = false;
  #catchUp: CatchUp | null = null;
  #info: ReplicaInfo | null = null;
  /** The replica's schema version, which may lag behind the gateway's. */
  #copySchema: number | null = null;
  /** How far the gateway's clock is ahead of ours. */
  #aheadMs = 0;

  private constructor(options: ReplicaOptions) {
    const { projectId, gateway, apiKey, log, admission } = options;
    this.waits = new Waits({ ...(admission && { admission }), projectId });
    this.pace = new Pace(projectId, admission);
    this.#positionWaiters = new PositionWaiters(this.waits);
    this.#options = options;
    this.#timing = { ...TIMING, ...options.timing };
    this.#clock = options.clock ?? systemClock();
    this.#board = new StatusBoard(this.#clock);
    logContact(this.#board, gateway.origin, log);
    this.#gatewayClock = systemClock(() => this.#clock.now() + this.#aheadMs);
    this.#pauses = new Pauses(this.#timing);
    const folder = new ReplicaFolder(options.folder);
    this.#source = new ReplicaSource(gateway, apiKey, this.#timing.silenceMs);
    this.#relay = new SyncRelay(this.#source, new FrameNumbers(folder), (ended) =>
      this.#copy.noteCheckpoint(ended),
    );
    this.#copy = new LocalCopy({
      folder,
      projectId,
      schemaVersion: this.#schemaVersion,
      log,
      silenceMs: this.#timing.syncSilenceMs,
      onDamage: (error) => this.#spoil(error.message),
    });
    this.#freshness = new FreshnessJudge(this.#clock);
    this.#verifier = new HistoryVerifier({
      projectId,
      file: folder.witnessPath,
      log,
      onSeen: (head) => rememberHead(options.ledgerHeadsFile, projectId, head),
    });
    this.#manager = new ReplicaManager({
      gateway: gateway.origin,
      folder,
      source: this.#source,
      copy: this.#copy,
      positionWaiters: this.#positionWaiters,
      freshness: this.#freshness,
      verifier: this.#verifier,
      clock: this.#clock,
      log,
    });
    this.contact = new Contact({
      ask: async (signal) => ({
        lost: this.#ownWrites.lost,
        gateway: await this.#source.position(signal),
      }),
      freshness: this.#freshness,
      board: this.#board,
      pauses: this.#pauses,
      isFollowing: () => this.#catchUp !== null,
      renew: () => this.#renew(),
      onPosition: (position) => this.#setTarget(position),
      onReturn: () => options.onReturn?.(),
    });
    this.#ownWrites = new OwnWrites(this.#positionWaiters, () => this.contact.reach());
  }

  /** Returns at once, and never throws because of the network. */
  static open(options: ReplicaOptions): Replica {
    const replica = new Replica(options);
    replica.#running = replica.#run();
    return replica;
  }

  get status(): ReplicaStatus {
    const { ageMs, usable } = this.freshness();
    const { shown } = this.#board;
    const isLate = shown.state === 'live' && usable !== 'live';
    return {
      ...shown,
      state: isLate ? 'catching-up' : shown.state,
      position: this.store && this.#positionWaiters.position,
      ageMs: Number.isFinite(ageMs) ? ageMs : null,
      behind: this.#positionWaiters.behind,
      epoch: this.#manager.record?.epoch ?? null,
      witness: this.#verifier.status,
    };
  }

  /**
   * Snapshots of the replica; null while no replica is readable. Get it before each read, because a new replica has
   * another store. A read rejects with UNAVAILABLE for a damaged replica or another schema: ask the gateway then.
   */
  get store(): ProjectReader | null {
    const isUnderstood = this.#copySchema === this.#schemaVersion;
    return isUnderstood && this.#manager.isSound ? this.#copy.store : null;
  }

  /** Null until the gateway has described itself, in this run or an earlier one. */
  get info(): ReplicaInfo | null {
    return this.#info;
  }

  /** The sync process's pid, for tests that kill it. */
  get syncPid(): number | null {
    return this.#copy.pid;
  }

  /** Says if the replica may answer now. */
  freshness(): Freshness {
    return this.store ? this.#freshness.judge() : { usable: 'no', ageMs: Infinity };
  }

  /** The gateway's time, in milliseconds since 1970. */
  now(): number {
    return this.#gatewayClock.now();
  }

  /** True as soon as the replica reaches this position; false after `withinMs`. */
  reached(position: number, withinMs: number): Promise<boolean> {
    this.#setTarget(position);
    return this.#positionWaiters.reached(position, withinMs);
  }

  /** Notes this daemon's own write: its position, or null if the answer was lost. */
  noteWritten(position: number | null): void {
    this.#ownWrites.note(position);
    this.#catchUp?.wake();
  }

  /** True as soon as the replica has all noted writes; false after `withinMs` at most. Ask before each read. */
  settled(withinMs: number): Promise<boolean> {
    return this.#ownWrites.settled(withinMs);
  }

  /** Accepts the present history as the base for later comparisons, and checks all of it. */
  async acceptLedger(): Promise<void> {
    await this.#verifier.startOver();
    this.#lookAtLedger();
  }

  /** Calls back when `status` changes in more than position and age. Returns a function that stops it. */
  onChange(listener: () => void): () => void {
    return this.#board.onChange(listener);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.contact.close();
    this.waits.close();
    await this.#running;
    await this.#verifier.close();
    await this.#manager.close();
    await this.#relay.close();
    await this.#source.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    await this.#openRemembered().catch((error: unknown) => this.#explain(error));
    while (!signal.aborted) {
      const startedAt = performance.now();
      const remedy = await this.#follow()
        .finally(() => this.#pauses.forgive(performance.now() - startedAt))
        .then(
          () => 'connect' as const,
          (error: unknown) => (signal.aborted ? 'connect' : this.#explain(error)),
        )
        .catch((error: unknown) => this.#giveUp(error));
      this.#freshness.streamEnded();
      await this.#pauses.wait(remedy, signal);
    }
  }

  async #openRemembered(): Promise<void> {
    const position = await this.#manager.openRemembered();
    const { record } = this.#manager;
    this.#info = record?.info ?? null;
    const aheadMs = record?.aheadMs ?? 0;
    this.#aheadMs = isTime(this.#clock.now() + aheadMs) ? aheadMs : 0;
    if (!position) return;
    this.#copySchema = position.schemaVersion;
    if (position.schemaVersion !== this.#schemaVersion) {
      const { message } = new UnsupportedError(position.schemaVersion, this.#schemaVersion);
      this.#board.enter('unsupported', message);
    }
    // If the process was killed, it saw more than it noted, and the gateway may have gone back since.
    if (this.store) this.#verifier.refresh(this.store);
  }

  /** Follows the gateway until its change stream ends or something fails. */
  async #follow(): Promise<void> {
    if (this.#manager.spoilt) await this.#manager.discard();
    const session = new AbortController();
    const signal = AbortSignal.any([this.#closing.signal, session.signal]);
    this.#session = session;
    this.#isRenewed = false;
    const { gateway, lost } = await this.contact.reach(signal);
    this.#onConnected(gateway, lost);
    await this.#source.renew();
    const link = await this.#relay.link(gateway.epoch);
    const [copy, positionWaiters, { log }] = [this.#copy, this.#positionWaiters, this.#options];
    try {
      await this.#manager.ensure(gateway, (done, total) => this.#board.copied(done, total), signal);
      positionWaiters.announce({ position: gateway.position, changes: [], all: true });
      const onPosition = (position: CopyPosition): void => this.#take(position);
      const onTrouble = (message: string): void =>
        this.#board.enter('catching-up', `svc can't fetch new data: ${message}`);
      this.#catchUp = new CatchUp({ copy, link, positionWaiters, log, onPosition, onTrouble });
      onPosition(await copy.position());
      const both = [this.#listen(gateway.epoch, signal), this.#catchUp.run(signal)];
      await raceAndEnd(both, session);
    } catch (error) {
      if (this.#isRenewed) return;
      // Only the first call of a session decides if the gateway is there and accepts the key.
      throw error instanceof SourceError ? new SourceError('unavailable', error.message) : error;
    } finally {
      this.#catchUp = null;
      session.abort();
    }
  }

  /** The gateway answered; `lost` is the number of lost write answers when we asked. */
  #onConnected(gateway: GatewayPosition, lost: number): void {
    const { project, server, schemaVersion } = gateway;
    this.#info = { project, server, schemaVersion };
    this.#aheadMs = gateway.time - this.#clock.now();
    this.#freshness.reachable(true);
    const isOtherHistory = this.#manager.record?.epoch !== gateway.epoch;
    this.#ownWrites.onConnected({ position: gateway.position, isOtherHistory, lost });
    if (schemaVersion !== this.#schemaVersion) {
      throw new UnsupportedError(schemaVersion, this.#schemaVersion);
    }
    this.#board.enter('catching-up');
  }

  async #listen(epoch: string, signal: AbortSignal): Promise<void> {
    for await (const message of this.#source.changes(signal)) {
      if (message.kind === 'end') continue;
      if (message.kind === 'place' && message.epoch !== epoch) return;
      this.#onMessage(message);
    }
  }

  #onMessage(message: Exclude<StreamMessage, { kind: 'end' }>): void {
    this.contact.heard();
    this.#aheadMs = message.time - this.#clock.now();
    this.#freshness.contacted(message.position);
    if (message.kind === 'change') this.#positionWaiters.announce(message);
    this.#setTarget(message.position);
    this.#manager.saveSoon(message.kind === 'time');
    this.#judgeState();
  }

  #setTarget(position: number): void {
    this.#positionWaiters.learn(position);
    this.#catchUp?.wake();
  }

  /** The replica has reached this position. */
  #take({ position, schemaVersion }: CopyPosition): void {
    this.#copySchema = schemaVersion;
    // A log may begin before a migration: the frames still to come bring the new tables.
    const isOnItsWay =
      schemaVersion < this.#schemaVersion && position < this.#positionWaiters.target;
    if (schemaVersion !== this.#schemaVersion && !isOnItsWay) {
      throw new UnsupportedError(schemaVersion, this.#schemaVersion);
    }
    this.keyCache.clear();
    this.#freshness.has(position);
    this.#positionWaiters.has(position);
    this.#manager.saveSoon(false);
    this.#judgeState();
    this.#lookAtLedger();
  }

  #lookAtLedger(): void {
    const { store } = this;
    if (store && this.#positionWaiters.behind === 0) this.#verifier.refresh(store);
  }

  #judgeState(): void {
    const isLive = this.#freshness.judge().usable === 'live';
    if (isLive && this.#positionWaiters.behind === 0) this.#board.enter('live');
    else if (!['live', 'catching-up'].includes(this.#board.shown.state)) {
      this.#board.enter('catching-up');
    }
  }

  #renew(): void {
    this.#isRenewed = true;
    this.#session?.abort();
  }

  #spoil(reason: string): void {
    this.#manager.spoil(reason);
    this.#session?.abort();
  }

  /** Returns what to do next. */
  async #explain(error: unknown): Promise<BlockReason['remedy']> {
    const { state, detail, code, remedy } = blockReasonOf(this.#manager.spoilt ?? error);
    const isToGo = remedy === 'remove';
    if (isToGo) await this.#manager.erase();
    if (remedy === 'copy') this.#spoil(detail);
    if (remedy === 'repair') this.#options.log.warn({ err: error }, 'replica: will try again');
    if (state === 'offline') this.contact.away();
    this.#board.enter(state, detail, code);
    if (isToGo) this.waits.notifyAll();
    return remedy;
  }

  /** The error handling failed too, most likely because of the disk. */
  #giveUp(error: unknown): BlockReason['remedy'] {
    this.#options.log.error({ err: error }, "replica: can't change its files");
    return 'repair';
  }
}
