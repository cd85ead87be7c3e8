import type { Logger } from 'pino';
import type { Clock } from '../../shared/lib/clock.ts';
import type { PositionWaiters } from './serve/position-waiters.ts';
import { copyDatabase, type Progress } from './sync/first-copy.ts';
import type { FreshnessJudge } from './serve/freshness.ts';
import type { LocalCopy } from './sync/local-copy.ts';
import type { GatewayPosition } from './serve/gateway-position.ts';
import { isOutdated, type ReplicaFolder, type ReplicaRecord } from './sync/replica-folder.ts';
import type { CopyPosition } from './serve/replica-reader.ts';
import type { ReplicaSource } from './sync/source.ts';
import { SyncError } from './sync/sync-failure.ts';
import type { HistoryVerifier } from './verify/history-verifier.ts';

const SAVE_MS = 5000;
/** The delay if only time has passed. */
const SAVE_IDLE_MS = 60_000;

export interface ReplicaManagerDeps {
  /** The origin of the gateway. */
  readonly gateway: string;
  readonly folder: ReplicaFolder;
  readonly source: ReplicaSource;
  readonly copy: LocalCopy;
  readonly positionWaiters: PositionWaiters;
  readonly freshness: FreshnessJudge;
  readonly verifier: HistoryVerifier;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Knows the replica's history, and if it's usable, across restarts. */
export class ReplicaManager {
  readonly #deps: ReplicaManagerDeps;
  #record: ReplicaRecord | null = null;
  #spoilt: string | null = null;
  #saver: NodeJS.Timeout | null = null;
  #saveAt = 0;

  constructor(deps: ReplicaManagerDeps) {
    this.#deps = deps;
  }

  /** The record; null while there's no replica. */
  get record(): ReplicaRecord | null {
    return this.#record;
  }

  /** Why nobody may use the replica; null if we know of no damage. */
  get spoilt(): SyncError | null {
    return this.#spoilt === null ? null : new SyncError('damaged', this.#spoilt);
  }

  /** True while there's a replica without known damage. */
  get isSound(): boolean {
    return this.#spoilt === null && this.#deps.copy.store !== null;
  }

  /** Opens the replica of an earlier run. Returns its position; null if there's no usable replica. */
  async openRemembered(): Promise<CopyPosition | null> {
    const { folder, log } = this.#deps;
    const record = folder.readRecord();
    const reason = this.#uselessness(record);
    if (reason !== null || !record) {
      if (reason !== null) log.info({ reason }, 'replica: removed');
      folder.erase();
      return null;
    }
    this.#record = record;
    try {
      return await this.#open(record);
    } catch (error) {
      // An error of the sync process says nothing about the replica.
      const isHindered = error instanceof SyncError && error.failure !== 'damaged';
      if (isHindered) log.warn({ err: error }, "replica: can't open the replica yet");
      else this.spoil(error instanceof Error ? error.message : String(error));
      return null;
    }
  }

  /** Makes sure that there's a replica of this gateway's history; downloads one if necessary. */
  async ensure(gateway: GatewayPosition, onProgress: Progress, signal: AbortSignal): Promise<void> {
    const isClosed = this.#spoilt === null && this.#deps.copy.store === null;
    if (isClosed && this.#record) await this.#open(this.#record);
    const reason = this.#whyAnew(gateway);
    if (reason !== null) await this.#copyAnew(gateway, reason, onProgress, signal);
    this.#remember(gateway);
  }

  /** Forbids the replica. The next contact with the gateway downloads another one. */
  spoil(reason: string): void {
    if (this.#spoilt !== null) return;
    this.#spoilt = reason;
    this.#deps.log.warn({ reason }, 'replica: the replica is damaged; copying it again');
  }

  /** Removes the replica, for a key that's no longer valid. */
  async erase(): Promise<void> {
    await this.discard();
    this.#spoilt = null;
  }

  /** Removes the replica, and remembers the reason until there's another one. */
  async discard(): Promise<void> {
    const { copy, freshness, positionWaiters } = this.#deps;
    this.#record = null;
    this.#stopSaving();
    freshness.forget();
    positionWaiters.restart(0);
    await copy.erase();
  }

  /** Saves the record soon; later with `isIdle`, which means that only time has passed. */
  saveSoon(isIdle: boolean): void {
    const at = performance.now() + (isIdle ? SAVE_IDLE_MS : SAVE_MS);
    if (this.#saver && this.#saveAt <= at) return;
    this.#stopSaving();
    this.#saveAt = at;
    this.#saver = setTimeout(() => this.#save(), at - performance.now());
  }

  /** Resolves after the running reads. The next start finds the replica in the same state. */
  async close(): Promise<void> {
    await this.#deps.copy.close();
    this.#save();
  }

  async #open(record: ReplicaRecord): Promise<CopyPosition> {
    const { copy, freshness, positionWaiters } = this.#deps;
    await copy.open();
    const position = await copy.position();
    if (position.position < record.position) throw new SyncError('damaged', 'It lost commits.');
    if (record.completeAt !== null) freshness.remember(record.completeAt);
    freshness.has(position.position);
    positionWaiters.has(position.position);
    return position;
  }

  #uselessness(record: ReplicaRecord | null): string | null {
    const { folder, gateway, clock } = this.#deps;
    if (!record || !folder.hasCopy()) return record ? "It's incomplete." : null;
    if (record.gateway !== gateway) return 'It comes from another gateway.';
    return isOutdated(record, clock.now()) ? "It hasn't been updated for a week." : null;
  }

  #whyAnew(gateway: GatewayPosition): string | null {
    const { copy, positionWaiters } = this.#deps;
    if (this.#spoilt !== null) return this.#spoilt;
    if (!this.#record || !copy.store) return 'No replica yet.';
    if (this.#record.epoch !== gateway.epoch) return 'The gateway started a new history.';
    const isAhead = (positionWaiters.position ?? 0) > gateway.position;
    return isAhead ? "The replica has commits the gateway doesn't have." : null;
  }

  async #copyAnew(
    gateway: GatewayPosition,
    reason: string,
    onProgress: Progress,
    signal: AbortSignal,
  ): Promise<void> {
    const { source, folder, copy, positionWaiters, verifier, freshness, log } = this.#deps;
    log.info({ reason, epoch: gateway.epoch }, 'replica: copying the database');
    await this.erase();
    positionWaiters.restart(gateway.position);
    verifier.restart();
    await copyDatabase(source, folder, gateway.epoch, onProgress, signal);
    await copy.open();
    const { position } = await copy.position();
    freshness.has(position);
    positionWaiters.has(position);
  }

  #remember(position: GatewayPosition): void {
    const { gateway, clock } = this.#deps;
    const { epoch, project, server, schemaVersion } = position;
    const now = clock.now();
    this.#record = {
      gateway,
      epoch,
      position: this.#deps.positionWaiters.position ?? 0,
      completeAt: this.#deps.freshness.completeAt,
      contactAt: now,
      aheadMs: position.time - now,
      info: { project, server, schemaVersion },
    };
    this.#save();
  }

  #save(): void {
    this.#stopSaving();
    const { folder, positionWaiters, freshness } = this.#deps;
    if (!this.#record || this.#spoilt !== null) return;
    const { completeAt } = freshness;
    this.#record = {
      ...this.#record,
      position: positionWaiters.position ?? 0,
      completeAt,
      contactAt: Math.max(this.#record.contactAt, completeAt ?? 0),
    };
    try {
      folder.writeRecord(this.#record);
    } catch (error) {
      this.#deps.log.warn({ err: error }, "replica: couldn't write its record");
    }
  }

  #stopSaving(): void {
    if (this.#saver) clearTimeout(this.#saver);
    this.#saver = null;
  }
}
