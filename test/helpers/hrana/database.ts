import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Libsql from 'libsql';
import { readOnlyAddress } from '../../../shared/store/connection.ts';
import { Connections } from './connections.ts';
import { ProtocolError, StreamExpired, type Pipeline } from './protocol.ts';
import { errorOf, Stream, type Counters } from './stream.ts';
import { SyncSource } from './sync-source.ts';
import { WriteLock, type WriteLockOptions } from './write-lock.ts';

export interface DatabaseOptions extends WriteLockOptions {
  /** A stream that is not used for so long is rolled back and ended. */
  readonly streamIdleMs: number;
  readonly replication: boolean;
}

interface OpenStream {
  readonly stream: Stream;
  /** Null while a request is under way. */
  baton: string | null;
  timer?: NodeJS.Timeout;
}

/** What a pipeline is answered with, and whether something was committed on the way. */
interface PipelineAnswer {
  readonly body: {
    readonly baton: string | null;
    readonly base_url: null;
    readonly results: readonly unknown[];
  };
  readonly hasCommitted: boolean;
}

/** One database of the server, in its own folder. */
export class HranaDatabase {
  readonly path: string;
  /** What replicas are made of, when there can be any. */
  readonly source: SyncSource | null;
  counters: Counters = noCounters();
  readonly #options: DatabaseOptions;
  readonly #lock: WriteLock;
  readonly #connections: Connections;
  /** With replicas: the connection that is closed last folds the log in, unless it cannot write. */
  readonly #keeper: Libsql.Database | null;
  readonly #streams = new Map<string, OpenStream>();
  readonly #expired = new Set<string>();

  constructor(folder: string, options: DatabaseOptions) {
    mkdirSync(folder, { recursive: true });
    this.path = join(folder, 'data.db');
    this.#options = options;
    this.#lock = new WriteLock(options);
    const { replication } = options;
    this.#connections = new Connections({ path: this.path, checkpoints: !replication });
    const first = new Libsql(this.path);
    first.prepare('PRAGMA journal_mode = WAL').all([]);
    if (replication) first.prepare('PRAGMA wal_autocheckpoint = 0').all([]);
    this.#keeper = replication ? new Libsql(readOnlyAddress(this.path)) : null;
    this.#keeper?.prepare('SELECT count(*) FROM sqlite_schema').all([]);
    first.close();
    this.source = replication ? new SyncSource(this.path) : null;
  }

  /** Streams that were not ended. */
  get openStreams(): number {
    return this.#streams.size;
  }

  /** Throws ProtocolError or StreamExpired if the stream doesn't exist. */
  async run({ baton, requests }: Pipeline): Promise<PipelineAnswer> {
    this.counters.requests += 1;
    const [id, open] = this.#take(baton ?? null);
    const { stream } = open;
    const before = stream.commits;
    const results: unknown[] = [];
    try {
      for (const request of requests) results.push(await answerOf(stream, request));
    } catch (error) {
      stream.close();
      throw error;
    } finally {
      this.#giveBack(id, open);
    }
    const body = { baton: open.baton, base_url: null, results };
    return { body, hasCommitted: stream.commits > before };
  }

  /** As if nobody had used them for long. Those with a request under way go on. */
  expireStreams(): void {
    for (const [id, { baton }] of this.#streams) if (baton !== null) this.#expire(id);
  }

  close(): void {
    this.expireStreams();
    for (const { stream } of this.#streams.values()) stream.close();
    this.#connections.close();
    this.#keeper?.close();
    this.source?.close();
  }

  #take(baton: string | null): readonly [string, OpenStream] {
    if (baton === null) {
      const stream = new Stream({
        connections: this.#connections,
        lock: this.#lock,
        counters: this.counters,
      });
      const opened = { stream, baton };
      const id = randomBytes(12).toString('hex');
      this.#streams.set(id, opened);
      return [id, opened];
    }
    const [id = ''] = baton.split('.');
    if (this.#expired.has(id)) throw new StreamExpired();
    const open = this.#streams.get(id);
    if (!open) throw new ProtocolError('Received an invalid baton');
    if (open.baton !== baton) {
      throw new ProtocolError('Received a baton that has already been used');
    }
    clearTimeout(open.timer);
    open.baton = null;
    return [id, open];
  }

  #giveBack(id: string, open: OpenStream): void {
    if (open.stream.isClosed) {
      this.#streams.delete(id);
      return;
    }
    open.baton = `${id}.${randomBytes(16).toString('hex')}`;
    open.timer = setTimeout(() => this.#expire(id), this.#options.streamIdleMs);
  }

  #expire(id: string): void {
    const open = this.#streams.get(id);
    clearTimeout(open?.timer);
    open?.stream.close();
    this.#streams.delete(id);
    this.#expired.add(id);
  }
}

async function answerOf(stream: Stream, request: Pipeline['requests'][number]): Promise<unknown> {
  try {
    const response = await stream.answer(request);
    return { type: 'ok', response: { type: request.type, ...response } };
  } catch (error) {
    return { type: 'error', error: errorOf(error) };
  }
}

export function noCounters(): Counters {
  return { requests: 0, statements: 0, transactions: 0 };
}
