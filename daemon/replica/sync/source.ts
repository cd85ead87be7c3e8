import type { Readable } from 'node:stream';
import { Agent, Client, request, type Dispatcher } from 'undici';
import { FRAME_BYTES } from '../../../shared/store/log/wal-layout.ts';
import { isTlsRefusal } from '../../../shared/host/tls-refusal.ts';
import { errorCode, isObject, parseObject } from '../../../shared/lib/guards.ts';
import { CONNECT } from '../../upstream/connecting.ts';
import { reasonOf } from '../../upstream/upstream-error.ts';
import { readEvents } from './event-stream.ts';
import {
  readMessage,
  readPosition,
  type StreamMessage,
  type GatewayPosition,
} from '../serve/gateway-position.ts';
import { SourceError } from './source-error.ts';

const ANSWER_MS = 30_000;
/** The limit for answers that we read into memory. */
const ANSWER_MAX_BYTES = 1024 * 1024;
/** Shorter than the time after which we kill the process that waits for the frames. */
const FRAMES_MS = 15_000;

/** A database file during its download. */
export interface Download {
  readonly generation: number;
  readonly sizeBytes: number;
  readonly body: Readable;
}

/** Frames of a generation, numbered from 1: `from` inclusive, `to` exclusive. */
export interface FrameRange {
  readonly generation: number;
  readonly from: number;
  readonly to: number;
}

/** Complete frames, or the newest generation if this one has none in the range. */
export type Frames = { readonly frames: Buffer } | { readonly newest: number };

/** The gateway's replication API. All methods reject with `SourceError`, or with the abort reason. */
export class ReplicaSource {
  readonly #base: string;
  readonly #authorization: string;
  readonly #silenceMs: number;
  #agent = new Agent({ connect: CONNECT });
  #received = 0;

  /** `silenceMs`: a stream that stays silent for longer is dead. */
  constructor(gateway: URL, apiKey: string, silenceMs: number) {
    this.#base = new URL('v1/replica', withSlash(gateway)).href;
    this.#authorization = `Bearer ${apiKey}`;
    this.#silenceMs = silenceMs;
  }

  /** Bytes of answers so far, to measure progress. */
  get received(): number {
    return this.#received;
  }

  /** Asks over a new connection: a kept one may be dead and not show it. */
  async position(signal: AbortSignal): Promise<GatewayPosition> {
    const connection = new Client(new URL(this.#base).origin, { connect: CONNECT });
    try {
      const found = readPosition(await this.#json('', signal, connection));
      if (!found) throw new SourceError('unknown', "The gateway didn't give its position.");
      return found;
    } finally {
      void connection.destroy();
    }
  }

  /** Breaks off all other calls, and makes new connections from now on. */
  async renew(): Promise<void> {
    const agent = this.#agent;
    this.#agent = new Agent({ connect: CONNECT });
    await agent.destroy();
  }

  /** The newest generation. */
  async generation(epoch: string, signal: AbortSignal): Promise<number> {
    const info = await this.#json(`/${epoch}/info`, signal);
    const generation = isObject(info) ? info['current_generation'] : null;
    if (!Number.isSafeInteger(generation) || Number(generation) < 1) {
      throw new SourceError('unknown', "The gateway didn't name a generation.");
    }
    return Number(generation);
  }

  /** Starts the download of the newest generation's database file. */
  async download(epoch: string, signal: AbortSignal): Promise<Download> {
    const generation = await this.generation(epoch, signal);
    const response = await this.#get(`/${epoch}/export/${generation}`, signal, ANSWER_MS);
    await this.#expect200(response);
    const sizeBytes = Number(response.headers['content-length']);
    if (!(sizeBytes > 0)) {
      response.body.destroy();
      throw new SourceError('unknown', "The gateway didn't give the database's size.");
    }
    return { generation, sizeBytes, body: response.body };
  }

  async frames(epoch: string, range: FrameRange, signal: AbortSignal): Promise<Frames> {
    const path = `/${epoch}/sync/${range.generation}/${range.from}/${range.to}`;
    const response = await this.#get(path, signal, FRAMES_MS);
    if (response.statusCode === 400) {
      const newest = Number(parseObject(await this.#text(response.body))?.['generation']);
      if (Number.isSafeInteger(newest) && newest >= 1) return { newest };
      throw new SourceError('unknown', "The gateway didn't say where the generation ends.");
    }
    await this.#expect200(response);
    const frames = await this.#bytes(response.body);
    if (frames.length > 0 && frames.length % FRAME_BYTES === 0) return { frames };
    throw new SourceError('unknown', 'The gateway sent partial frames.');
  }

  /** The gateway's changes as they happen; ends with the stream. */
  async *changes(signal: AbortSignal): AsyncGenerator<StreamMessage> {
    const response = await this.#get('/changes', signal, this.#silenceMs);
    await this.#expect200(response);
    try {
      for await (const { name, data } of readEvents(response.body)) {
        const message = readMessage(name, parseObject(data));
        if (message) yield message;
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

  async #json(
    path: string,
    signal: AbortSignal,
    dispatcher: Dispatcher = this.#agent,
  ): Promise<unknown> {
    const response = await this.#get(path, signal, ANSWER_MS, dispatcher);
    await this.#expect200(response);
    return parseObject(await this.#text(response.body));
  }

  async #get(
    path: string,
    signal: AbortSignal,
    bodyTimeout: number,
    dispatcher: Dispatcher = this.#agent,
  ): Promise<Dispatcher.ResponseData> {
    try {
      const response = await request(this.#base + path, {
        dispatcher,
        headers: { authorization: this.#authorization },
        headersTimeout: Math.min(bodyTimeout, ANSWER_MS),
        bodyTimeout,
        // Each request listens to a signal of its own, because many may hang at once.
        signal: AbortSignal.any([signal]),
      });
      // A body that we don't read to its end emits an error, which nobody else handles.
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
    throw SourceError.ofStatus(statusCode, code, message, details);
  }

  async #text(body: Dispatcher.ResponseData['body']): Promise<string> {
    return (await this.#bytes(body)).toString('utf8');
  }

  async #bytes(body: Dispatcher.ResponseData['body']): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        bytes += chunk.byteLength;
        this.#received += chunk.byteLength;
        if (bytes > ANSWER_MAX_BYTES) {
          throw new SourceError('unknown', "The gateway's answer is unexpectedly over 1 MB.");
        }
        chunks.push(chunk);
      }
      return Buffer.concat(chunks);
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
  const code = errorCode(error) ?? '';
  // A code that people can look up, or a sentence if they need to act.
  const reason = code && !isTlsRefusal(code) ? code : reasonOf(error);
  return new SourceError('unreachable', `The gateway can't be reached: ${reason}.`, null, error);
}
