import { randomBytes } from 'node:crypto';
import type { HranaDatabase } from './database.ts';
import { ProtocolError, StreamExpired, type Pipeline } from './protocol.ts';
import { errorOf, type Stream } from './stream.ts';

interface OpenStream {
  readonly database: HranaDatabase;
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

/**
 * The open streams of all databases: `ServerStreamState` in `libsql-server/src/hrana/http/stream.rs`, commit f8fb14f. So
 * a stream outlives the eviction of its namespace, with its connection.
 */
export class Streams {
  readonly #idleMs: number;
  readonly #open = new Map<string, OpenStream>();
  readonly #expired = new Set<string>();

  constructor(idleMs: number) {
    this.#idleMs = idleMs;
  }

  /** Of a database: those that were not ended. */
  countOf(name: string): number {
    return [...this.#open.values()].filter(({ database }) => database.name === name).length;
  }

  /** Throws ProtocolError or StreamExpired if the stream doesn't exist, TooManyRequests if there can't be another. */
  async run(database: HranaDatabase, { baton, requests }: Pipeline): Promise<PipelineAnswer> {
    database.counters.requests += 1;
    const [id, open] = await this.#take(database, baton ?? null);
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
  expireAll(): void {
    for (const [id, { baton }] of this.#open) if (baton !== null) this.#expire(id);
  }

  close(): void {
    this.expireAll();
    for (const { stream } of this.#open.values()) stream.close();
  }

  async #take(
    database: HranaDatabase,
    baton: string | null,
  ): Promise<readonly [string, OpenStream]> {
    if (baton === null) {
      const opened = { database, stream: await database.connect(), baton };
      const id = randomBytes(12).toString('hex');
      this.#open.set(id, opened);
      return [id, opened];
    }
    const [id = ''] = baton.split('.');
    if (this.#expired.has(id)) throw new StreamExpired();
    const open = this.#open.get(id);
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
      this.#open.delete(id);
      return;
    }
    open.baton = `${id}.${randomBytes(16).toString('hex')}`;
    open.timer = setTimeout(() => this.#expire(id), this.#idleMs);
  }

  #expire(id: string): void {
    const open = this.#open.get(id);
    clearTimeout(open?.timer);
    open?.stream.close();
    this.#open.delete(id);
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
