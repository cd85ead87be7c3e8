import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { isObject, parseObject } from '../../../shared/lib/guards.ts';
import { makePrivateFolder, readIfThere, replaceFile, writePrivateFile } from '../../files.ts';
import { readPositions, type FramePositions } from '../verify/frame-positions.ts';
import { decodeSums, encodeSums, type PageSums } from '../verify/page-sums.ts';
import { isTime, readInfo } from '../serve/gateway-position.ts';
import type { ReplicaInfo } from '../status.ts';

/** The database client's position: a generation of the log, and its frames so far. */
export interface SyncedTo {
  readonly generation: number;
  readonly frames: number;
}

/** The record of a replica that outlives a restart. */
export interface ReplicaRecord {
  /** The origin of the replica's gateway. */
  readonly gateway: string;
  readonly epoch: string;
  readonly position: number;
  /** When the replica was last known to be complete; null if it never was. All times are milliseconds since 1970. */
  readonly completeAt: number | null;
  /** When we last heard from the gateway. */
  readonly contactAt: number;
  /** How far the gateway's clock was ahead of ours. */
  readonly aheadMs: number;
  readonly info: ReplicaInfo;
}

/** We remove a replica without updates for this long: data that the gateway deleted must go here too. */
const KEEP_MS = 7 * 24 * 3_600_000;

/** The version of the client's file format `replica.db-info`. */
const INFO_VERSION = 0;

/** One replica's folder: the database, the client's notes, the page checksums, the frames' places, and our
 * own record. */
export class ReplicaFolder {
  readonly path: string;
  readonly databasePath: string;
  readonly logPath: string;
  readonly lockPath: string;
  readonly witnessPath: string;
  readonly #recordPath: string;
  readonly #infoPath: string;
  readonly #sumsPath: string;
  readonly #positionsPath: string;

  constructor(path: string) {
    this.path = path;
    this.databasePath = join(path, 'replica.db');
    this.logPath = `${this.databasePath}-wal`;
    this.lockPath = join(path, 'lock');
    this.witnessPath = join(path, 'witness.json');
    this.#recordPath = join(path, 'replica.json');
    this.#infoPath = `${this.databasePath}-info`;
    this.#sumsPath = `${this.databasePath}-sums`;
    this.#positionsPath = `${this.databasePath}-frames`;
    makePrivateFolder(path);
  }

  /** Where a download goes before it becomes the database. */
  get downloadPath(): string {
    return `${this.databasePath}.part`;
  }

  /** True if there's a replica in any state. */
  hasCopy(): boolean {
    return existsSync(this.databasePath) && existsSync(this.#infoPath);
  }

  /** True if any file of a replica exists. */
  hasTraces(): boolean {
    return this.#files.some((path) => existsSync(path));
  }

  /** Null if the record is missing or damaged. */
  readRecord(): ReplicaRecord | null {
    const value = parseObject(readIfThere(this.#recordPath) ?? '');
    const info = isObject(value?.['info']) ? storedInfo(value['info']) : null;
    return value && isWhole(value) && info
      ? ({ ...value, info } as unknown as ReplicaRecord)
      : null;
  }

  writeRecord(record: ReplicaRecord): void {
    writePrivateFile(this.#recordPath, `${JSON.stringify(record, null, 2)}\n`);
  }

  /** Null if the client's notes are missing or damaged. */
  readSyncedTo(): SyncedTo | null {
    const value = parseObject(readIfThere(this.#infoPath) ?? '');
    const generation = Number(value?.['generation']);
    const frames = Number(value?.['durable_frame_num']);
    if (!(generation >= 1) || !(frames >= 0)) return null;
    return value?.['hash'] === infoHash({ generation, frames }) ? { generation, frames } : null;
  }

  writeSyncedTo({ generation, frames }: SyncedTo): void {
    const hash = infoHash({ generation, frames });
    const info = { hash, version: INFO_VERSION, durable_frame_num: frames, generation };
    writePrivateFile(this.#infoPath, JSON.stringify(info));
  }

  /** Null if the checksums are missing or damaged. */
  readSums(): PageSums | null {
    return existsSync(this.#sumsPath) ? decodeSums(readFileSync(this.#sumsPath)) : null;
  }

  writeSums(sums: PageSums): void {
    writePrivateFile(this.#sumsPath, encodeSums(sums));
  }

  /** Null if the places are missing or damaged. */
  readPositions(): FramePositions | null {
    return readPositions(readIfThere(this.#positionsPath) ?? '');
  }

  /** Doesn't sync: this comes before every commit of the client, and `prepare.ts` recognizes an older version. */
  writePositions(places: FramePositions): Promise<void> {
    return replaceFile(this.#positionsPath, JSON.stringify(places));
  }

  /** Sizes and times of the database and its log, for comparison. */
  fingerprint(): string {
    return [this.databasePath, this.logPath]
      .map((path) => statSync(path, { throwIfNoEntry: false }))
      .map((stat) => (stat ? `${stat.size}:${stat.mtimeMs}` : '-'))
      .join(' ');
  }

  /** Removes the replica, but keeps the known ledger head: it's the evidence against a gateway that changes history. */
  erase(): void {
    for (const path of this.#files) rmSync(path, { force: true });
  }

  /** In order of removal. Record first: we ignore a replica without it. Notes last: without them there's no replica. */
  get #files(): readonly string[] {
    const { databasePath } = this;
    const files = [databasePath, this.logPath, `${databasePath}-shm`, this.downloadPath];
    return [this.#recordPath, ...files, this.#positionsPath, this.#sumsPath, this.#infoPath];
  }
}

/** True if we heard nothing from the replica's gateway in the week before `now` (milliseconds since 1970). */
export function isOutdated({ contactAt }: ReplicaRecord, now: number): boolean {
  // A time in the future comes from a wrong clock and proves nothing.
  return Math.abs(now - contactAt) > KEEP_MS;
}

function isWhole(value: Record<string, unknown>): boolean {
  const { gateway, epoch, position, completeAt, contactAt, aheadMs } = value;
  const areTexts = typeof gateway === 'string' && typeof epoch === 'string';
  const areTimes = (completeAt === null || isTime(completeAt)) && isTime(contactAt);
  return areTexts && areTimes && Number.isFinite(position) && Number.isFinite(aheadMs);
}

/** The checksum over the client's notes: CRC-32 of three numbers, little-endian. */
function infoHash({ generation, frames }: SyncedTo): number {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32LE(INFO_VERSION, 0);
  bytes.writeUInt32LE(frames, 4);
  bytes.writeUInt32LE(generation, 8);
  return crc32(bytes);
}

function storedInfo({
  project,
  server,
  schemaVersion,
}: Record<string, unknown>): ReplicaInfo | null {
  if (!isObject(server)) return null;
  const { telegramBot: telegram_bot, mail, ...same } = server;
  const keeps_mail = isObject(mail) && mail['isKept'];
  return readInfo(project, { ...same, telegram_bot, keeps_mail }, schemaVersion);
}
