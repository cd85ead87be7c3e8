import type { Readable } from 'node:stream';
import { Agent, request, type Dispatcher } from 'undici';
import { errorCode, isObject, parseObject } from '../../shared/untyped.ts';
import { readEvents } from './event-stream.ts';
import { readHeard, readPlace, type Heard, type Place } from './place.ts';
import { SourceError } from './source-error.ts';

const CONNECT_MS = 5000;
const ANSWER_MS = 30_000;
/** Of an answer that is read whole. */
const ANSWER_MAX_BYTES = 1024 * 1024;

/** A database file on its way. */
export interface Download {
  readonly generation: number;
  readonly sizeBytes: number;
  readonly body: Readable;
}

/** The gateway's side of replication. All methods reject with `SourceError`, or when they are aborted. */
export class ReplicaSource {
  readonly #base: string;
  readonly #authorization: string;
  readonly #agent = new Agent({ connect: { timeout: CONNECT_MS } });
  readonly #silenceMs: number;

  /** `silenceMs`: a stream that says nothing for longer is dead. */
  constructor(gateway: URL, apiKey: string, silenceMs: number) {
    this.#base = new URL('v1/replica', withSlash(gateway)).href;
    this.#authorization = `Bearer ${apiKey}`;
    this.#silenceMs = silenceMs;
  }

  /** What the client of the database takes as its `syncUrl`. */
  syncUrl(epoch: string): string {
    return `${this.#base}/${epoch}`;
  }

  async place(signal: AbortSignal): Promise<Place> {
    const place = readPlace(await this.#json('', signal));
    if (!place) throw new SourceError('unknown', 'The gateway does not say where it stands.');
    return place;
  }

  /** Begins the copy of the database file of the newest generation. */
  async download(epoch: string, signal: AbortSignal): Promise<Download> {
    const info = await this.#json(`/${epoch}/info`, signal);
    const generation = isObject(info) ? info['current_generation'] : null;
    if (!Number.isSafeInteger(generation) || Number(generation) < 1) {
      throw new SourceError('unknown', 'The gateway does not name a generation.');
    }
    const response = await this.#get(`/${epoch}/export/${Number(generation)}`, signal, ANSWER_MS);
    await this.#expect200(response);
    const sizeBytes = Number(response.headers['content-length']);
    if (!(sizeBytes > 0)) {
      response.body.destroy();
      throw new SourceError('unknown', 'The gateway does not say how long the database is.');
    }
    return { generation: Number(generation), sizeBytes, body: response.body };
  }

  /** True when a generation has no frame after this one, and a later generation has begun. */
  async endsWith(
    epoch: string,
    place: { readonly generation: number; readonly frames: number },
    signal: AbortSignal,
  ): Promise<boolean> {
    const next = place.frames + 1;
    const path = `/${epoch}/sync/${place.generation}/${next}/${next + 1}`;
    const { statusCode, body } = await this.#get(path, signal, ANSWER_MS);
    const answer = statusCode === 400 ? parseObject(await this.#text(body)) : null;
    body.destroy();
    return Number(answer?.['generation']) > place.generation;
  }

  /** What the gateway tells as it happens; ends when the stream does. */
  async *changes(signal: AbortSignal): AsyncGenerator<Heard> {
    const response = await this.#get('/changes', signal, this.#silenceMs);
    await this.#expect200(response);
    try {
      for await (const { name, data } of readEvents(response.body)) {
        const heard = readHeard(name, parseObject(data));
        if (heard) yield heard;
      }
    } catch (error) {
      throw asSourceError(error, signal);
    } finally {
      response.body.destroy();
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #json(path: string, signal: AbortSignal): Promise<unknown> {
    const response = await this.#get(path, signal, ANSWER_MS);
    await this.#expect200(response);
    return parseObject(await this.#text(response.body));
  }

  async #get(
    path: string,
    signal: AbortSignal,
    bodyTimeout: number,
  ): Promise<Dispatcher.ResponseData> {
    try {
      const response = await request(this.#base + path, {
        dispatcher: this.#agent,
        headers: { authorization: this.#authorization },
        headersTimeout: ANSWER_MS,
        bodyTimeout,
        signal,
      });
      // A body that nobody reads to its end fails, and nobody else would listen to that.
      response.body.on('error', () => undefined);
      return response;
    } catch (error) {
      throw asSourceError(error, signal);
    }
  }

  async #expect200({ statusCode, body }: Dispatcher.ResponseData): Promise<void> {
    if (statusCode === 200) return;
    const error = parseObject(await this.#text(body))?.['error'];
    const code = isObject(error) && typeof error['code'] === 'string' ? error['code'] : null;
    const message = isObject(error) ? String(error['message']) : 'It gave no reason.';
    const details = isObject(error) ? error['details'] : null;
    const reason = isObject(details) ? details['reason'] : null;
    throw SourceError.ofStatus(statusCode, code, message, reason);
  }

  async #text(body: Dispatcher.ResponseData['body']): Promise<string> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        bytes += chunk.byteLength;
        if (bytes > ANSWER_MAX_BYTES) {
          throw new SourceError(
            'unknown',
            'The gateway answers more than 1 MB where it should not.',
          );
        }
        chunks.push(chunk);
      }
      return Buffer.concat(chunks).toString('utf8');
    } catch (error) {
      throw asSourceError(error, null);
    }
  }
}

function withSlash(url: URL): URL {
  return url.pathname.endsWith('/') ? url : new URL(`${url.href}/`);
}

function asSourceError(error: unknown, signal: AbortSignal | null): unknown {
  if (signal?.aborted || error instanceof SourceError) return error;
  const reason = errorCode(error) ?? (error instanceof Error ? error.message : String(error));
  return new SourceError('unreachable', `The gateway cannot be reached: ${reason}.`, null, error);
}
