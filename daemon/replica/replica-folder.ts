import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { isObject, parseObject } from '../../shared/lib/guards.ts';
import { makePrivateFolder, readIfThere, writePrivateFile } from '../files.ts';
import { decodeSums, encodeSums, type PageSums } from './page-sums.ts';
import { isTime, readInfo } from './gateway-position.ts';
import type { ReplicaInfo } from './status.ts';

/** How far the client of the database has come: frames of a generation of the log. */
export interface SyncedTo {
  readonly generation: number;
  readonly frames: number;
}

/** What is remembered of a copy from one start to the next. */
export interface ReplicaRecord {
  /** The origin of the gateway that the copy comes from. */
  readonly gateway: string;
  readonly epoch: string;
  readonly position: number;
  /** When the copy was last known to have everything; null when it never was. Milliseconds since 1970, as all times. */
  readonly completeAt: number | null;
  /** When the gateway was last heard of. */
  readonly contactAt: number;
  /** What the gateway's clock was ahead of this one. */
  readonly aheadMs: number;
  readonly info: ReplicaInfo;
}

/** A copy that nobody brought up to date for so long is removed: what was deleted at the gateway is to be gone. */
const KEEP_MS = 7 * 24 * 3_600_000;

/** Of the format of `replica.db-info`, which is the client's. */
const INFO_VERSION = 0;

/** The folder of one copy: database, the client's notes, the checksums of its pages, and our own record. */
export class ReplicaFolder {
  readonly path: string;
  readonly databasePath: string;
  readonly logPath: string;
  readonly lockPath: string;
  readonly witnessPath: string;
  readonly #recordPath: string;
  readonly #infoPath: string;
  readonly #sumsPath: string;

  constructor(path: string) {
    this.path = path;
    this.databasePath = join(path, 'replica.db');
    this.logPath = `${this.databasePath}-wal`;
    this.lockPath = join(path, 'lock');
    this.witnessPath = join(path, 'witness.json');
    this.#recordPath = join(path, 'replica.json');
    this.#infoPath = `${this.databasePath}-info`;
    this.#sumsPath = `${this.databasePath}-sums`;
    makePrivateFolder(path);
  }

  /** Where a copy is put together before it takes the place of the database. */
  get downloadPath(): string {
    return `${this.databasePath}.part`;
  }

  /** True when there is a copy, in whatever state. */
  hasCopy(): boolean {
    return existsSync(this.databasePath) && existsSync(this.#infoPath);
  }

  /** True when there is anything of a copy, whole or not. */
  hasTraces(): boolean {
    return this.#files.some((path) => existsSync(path));
  }

  /** Null when there is no record, or one that is damaged. */
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

  /** Null when the client has left no notes, or damaged ones. */
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

  /** Null when there are none, or damaged ones. */
  readSums(): PageSums | null {
    return existsSync(this.#sumsPath) ? decodeSums(readFileSync(this.#sumsPath)) : null;
  }

  writeSums(sums: PageSums): void {
    writePrivateFile(this.#sumsPath, encodeSums(sums));
  }

  /** Sizes and times of the database and its log, to be compared. */
  fingerprint(): string {
    return [this.databasePath, this.logPath]
      .map((path) => statSync(path, { throwIfNoEntry: false }))
      .map((stat) => (stat ? `${stat.size}:${stat.mtimeMs}` : '-'))
      .join(' ');
  }

  /** Removes the copy. What the witness has seen stays: whoever shows another history must not be rid of it so easily. */
  erase(): void {
    for (const path of this.#files) rmSync(path, { force: true });
  }

  /** The record first: without it nobody believes in a copy. The notes last: without them there is none. */
  get #files(): readonly string[] {
    const { databasePath } = this;
    const files = [databasePath, this.logPath, `${databasePath}-shm`, this.downloadPath];
    return [this.#recordPath, ...files, this.#sumsPath, this.#infoPath];
  }
}

/** True for a copy whose gateway was not heard of for a week before `now`, in milliseconds since 1970. */
export function isOutdated({ contactAt }: ReplicaRecord, now: number): boolean {
  // A time to come was written under a clock that was wrong, and says nothing.
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
  const told = isObject(server) ? { ...server, telegram_bot: server['telegramBot'] } : server;
  return readInfo(project, told, schemaVersion);
}
