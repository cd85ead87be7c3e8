import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Libsql from 'libsql';
import { readOnlyAddress } from '../../../shared/store/engine/connection.ts';
import type { ConnectionSlots } from './connection-slots.ts';
import { Connections } from './connections.ts';
import { configOf, SYNCHRONOUS } from './namespace-config.ts';
import { TooManyRequests } from './protocol.ts';
import { Stream, type Counters } from './stream.ts';
import { SyncSource } from './sync-source.ts';
import { WriteLock, type WriteLockOptions } from './write-lock.ts';

export interface DatabaseOptions extends WriteLockOptions {
  readonly replication: boolean;
  /** Requests of one database that may open a connection at the same time; the last of so many is refused. */
  readonly maxConcurrentRequests: number;
}

/** What a database gets from its server. */
interface DatabaseParts {
  readonly name: string;
  readonly folder: string;
  readonly slots: ConnectionSlots;
  readonly counters: Counters;
}

/** One database of the server, in its own folder. */
export class HranaDatabase {
  readonly name: string;
  readonly path: string;
  /** What replicas are made of, when there can be any. */
  readonly source: SyncSource | null;
  readonly counters: Counters;
  readonly #options: DatabaseOptions;
  readonly #slots: ConnectionSlots;
  readonly #lock: WriteLock;
  readonly #connections: Connections;
  /** With replicas: the connection that is closed last folds the log in, unless it cannot write. */
  readonly #keeper: Libsql.Database | null;
  #connecting = 0;

  constructor({ name, folder, slots, counters }: DatabaseParts, options: DatabaseOptions) {
    mkdirSync(folder, { recursive: true });
    this.name = name;
    this.path = join(folder, 'data.db');
    this.counters = counters;
    this.#options = options;
    this.#slots = slots;
    const { replication, transactionMaxMs } = options;
    const { durability_mode: mode, txn_timeout_s: seconds } = configOf(folder);
    // As in `MakeLegacyConnection::new`, `libsql-server/src/connection/legacy.rs`, commit f8fb14f.
    const maxMs = typeof seconds === 'number' ? seconds * 1000 : transactionMaxMs;
    this.#lock = new WriteLock({ transactionMaxMs: maxMs });
    this.#connections = new Connections({
      path: this.path,
      checkpoints: !replication,
      synchronous: SYNCHRONOUS[mode],
    });
    const first = new Libsql(this.path);
    first.prepare('PRAGMA journal_mode = WAL').all([]);
    if (replication) first.prepare('PRAGMA wal_autocheckpoint = 0').all([]);
    this.#keeper = replication ? new Libsql(readOnlyAddress(this.path)) : null;
    this.#keeper?.prepare('SELECT count(*) FROM sqlite_schema').all([]);
    first.close();
    this.source = replication ? new SyncSource(this.path) : null;
  }

  /**
   * A new connection. Of those of one database that wait for theirs, the 128th is refused at once: `waiters` of
   * `MakeThrottledConnection::create`, `libsql-server/src/connection/mod.rs`, commit f8fb14f.
   */
  async connect(): Promise<Stream> {
    this.#connecting += 1;
    try {
      if (this.#connecting >= this.#options.maxConcurrentRequests) {
        throw new TooManyRequests('Too many concurrent requests');
      }
      const freeSlot = await this.#slots.take();
      return new Stream({
        connections: this.#connections,
        lock: this.#lock,
        counters: this.counters,
        onClose: freeSlot,
      });
    } finally {
      this.#connecting -= 1;
    }
  }

  /** `Namespace::checkpoint` in `libsql-server/src/namespace/mod.rs`, commit f8fb14f. With replication, the log stays. */
  async checkpoint(): Promise<void> {
    if (this.source) return;
    const stream = await this.connect();
    try {
      await stream.checkpoint();
    } finally {
      stream.close();
    }
  }

  /** Open streams go on. */
  close(): void {
    this.#connections.end();
    this.#keeper?.close();
    this.source?.close();
  }
}

export function noCounters(): Counters {
  return { requests: 0, statements: 0, transactions: 0 };
}
