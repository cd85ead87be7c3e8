import { Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { S3Config } from './blobs-config.ts';
import { asStoreError, isPassing, MissingObjectError, S3Error, WireError } from './s3-errors.ts';
import { exchange, S3Body } from './s3-exchange.ts';
import { readErrorCode, readListing, type ListedObject } from './s3-listing.ts';
import { NO_BODY, S3Signer, UNSIGNED, type S3Call } from './s3-signer.ts';

/** How long a bucket may be silent, and how often a repeatable call is tried. */
export interface S3Timeouts {
  readonly silenceMs: number;
  /** Copies are slower: the bucket answers after it has copied all the bytes. */
  readonly copySilenceMs: number;
  readonly attempts: number;
  /** The pause before the second attempt; it doubles each time. */
  readonly pauseMs: number;
  /** No attempt starts later than this after the first. */
  readonly attemptsWithinMs: number;
}

const PATIENCE: S3Timeouts = {
  silenceMs: 20_000,
  copySilenceMs: 60_000,
  attempts: 4,
  pauseMs: 100,
  attemptsWithinMs: 10_000,
};
/** A listing has 1000 names per page. */
const TEXT_MAX_BYTES = 8 * 1024 * 1024;
/** Browsers save this type and never show it. */
const CONTENT_TYPE = 'application/octet-stream';

/** An object that is ready to be read. */
export interface OpenObject {
  readonly body: Readable;
  readonly sizeBytes: number;
  readonly etag: string;
}

interface RequestBody {
  /** The SHA-256 of the body in hex, or UNSIGNED. */
  readonly payload: string;
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | null;
}

const NOTHING: RequestBody = { payload: NO_BODY, body: null };

/**
 * The few S3 calls that blobs need. A missing object is ENOENT; every fault of the bucket is UNAVAILABLE with its cause.
 * Temporary failures (no answer, 429, 5xx) are retried, except for a body in chunks, which are gone by then.
 */
export class S3Client {
  readonly #config: S3Config;
  readonly #signer: S3Signer;
  readonly #timeouts: S3Timeouts;
  readonly #agent: HttpAgent;

  constructor(config: S3Config, timeouts: Partial<S3Timeouts> = {}) {
    this.#config = config;
    this.#signer = new S3Signer(config);
    this.#timeouts = { ...PATIENCE, ...timeouts };
    const Agent = config.endpoint.protocol === 'https:' ? HttpsAgent : HttpAgent;
    this.#agent = new Agent({ keepAlive: true });
  }

  get bucket(): string {
    return this.#config.bucket;
  }

  /** The size of an object; null if it doesn't exist. */
  async head(key: string): Promise<number | null> {
    return (await this.stat(key))?.sizeBytes ?? null;
  }

  /** The size of an object and its ETag, which changes with its bytes; null if it doesn't exist. */
  stat(key: string): Promise<Omit<OpenObject, 'body'> | null> {
    return this.#repeated(async () => {
      const call: S3Call = { method: 'HEAD', key };
      const response = await this.#send(call, NOTHING);
      response.resume();
      // Without a body, a missing object looks like a missing bucket; a write will tell them apart.
      if (response.statusCode === 404) return null;
      if (response.statusCode !== 200) throw await this.#failure(call, response);
      return { sizeBytes: lengthOf(call, response), etag: response.headers.etag ?? '' };
    });
  }

  /** A caller that doesn't read to the end must destroy the body. */
  open(key: string): Promise<OpenObject> {
    return this.#repeated(() => this.#open(key));
  }

  /** Reads an object with `use`; if the read breaks off, it starts again from the beginning. */
  reading<T>(key: string, use: (object: OpenObject) => Promise<T>): Promise<T> {
    return this.#repeated(async () => {
      const object = await this.#open(key);
      try {
        return await use(object);
      } finally {
        object.body.destroy();
      }
    });
  }

  /**
   * The request's signature covers the checksum, which is the blob's name anyway, over both https and http. So the bucket
   * refuses bytes that changed on the way.
   */
  async put(key: string, bytes: Uint8Array, sha256: string): Promise<void> {
    const headers = { 'Content-Type': CONTENT_TYPE, 'Content-Length': String(bytes.length) };
    const call: S3Call = { method: 'PUT', key, headers };
    await this.#repeated(() => this.#text(call, { payload: sha256, body: bytes }));
  }

  /**
   * Sends exactly `sizeBytes` bytes whose checksum isn't known before the last one is sent: the signature covers the
   * length but not the payload. TLS protects the bytes; over plain http, only TCP does.
   */
  async putStream(
    key: string,
    chunks: AsyncIterable<Uint8Array>,
    sizeBytes: number,
  ): Promise<void> {
    const headers = { 'Content-Type': CONTENT_TYPE, 'Content-Length': String(sizeBytes) };
    try {
      await this.#text({ method: 'PUT', key, headers }, { payload: UNSIGNED, body: chunks });
    } catch (error) {
      throw asStoreError(error);
    }
  }

  /** Copies inside the bucket, but only if the source still has this ETag. */
  async copy(from: string, to: string, etag?: string): Promise<void> {
    const headers = {
      'Content-Type': CONTENT_TYPE,
      'Content-Length': '0',
      'x-amz-copy-source': `/${this.#config.bucket}/${from}`,
      'x-amz-metadata-directive': 'REPLACE',
      ...(etag !== undefined && { 'x-amz-copy-source-if-match': etag }),
    };
    const call: S3Call = { method: 'PUT', key: to, headers };
    await this.#repeated(async () => {
      const text = await this.#text(call, NOTHING, this.#timeouts.copySilenceMs);
      // A copy that fails after it has started still gets a 200.
      if (!text.includes('<CopyObjectResult')) {
        throw new S3Error(nameOf(call), 200, readErrorCode(text));
      }
    });
  }

  /** Succeeds too if there is no such object. */
  async delete(key: string): Promise<void> {
    await this.#repeated(() => this.#text({ method: 'DELETE', key }, NOTHING)).catch(ignoreMissing);
  }

  /** Signed now, so the bucket refuses it after it has expired, however late it arrives. */
  async deletion(key: string, withinSeconds: number): Promise<() => Promise<void>> {
    const call: S3Call = { method: 'DELETE', key };
    const address = await this.#signer.presign(call, withinSeconds);
    const { silenceMs } = this.#timeouts;
    const what = nameOf(call);
    return () =>
      this.#repeated(async () => {
        const parts = { method: call.method, headers: {}, body: null, agent: this.#agent };
        const response = await exchange({ what, address, silenceMs, ...parts });
        await this.#goodText(call, response, silenceMs).catch(ignoreMissing);
      });
  }

  async *list(prefix: string): AsyncGenerator<ListedObject> {
    let next: string | null = null;
    do {
      const query: Record<string, string> = {
        'list-type': '2',
        prefix,
        ...(next !== null && { 'continuation-token': next }),
      };
      const page = readListing(
        await this.#repeated(() => this.#text({ method: 'GET', key: '', query }, NOTHING)),
      );
      yield* page.objects;
      next = page.next;
    } while (next !== null);
  }

  presign(call: S3Call, expiresInSeconds: number): Promise<string> {
    return this.#signer.presign(call, expiresInSeconds);
  }

  /** Closes idle connections. */
  close(): void {
    this.#agent.destroy();
  }

  async #open(key: string): Promise<OpenObject> {
    const call: S3Call = { method: 'GET', key };
    const response = await this.#send(call, NOTHING);
    if (response.statusCode !== 200) throw await this.#failure(call, response);
    const sizeBytes = lengthOf(call, response);
    const { silenceMs } = this.#timeouts;
    const body = new S3Body(response, { what: nameOf(call), sizeBytes, silenceMs });
    return { body, sizeBytes, etag: response.headers.etag ?? '' };
  }

  async #text(
    call: S3Call,
    sent: RequestBody,
    silenceMs = this.#timeouts.silenceMs,
  ): Promise<string> {
    return this.#goodText(call, await this.#send(call, sent, silenceMs), silenceMs);
  }

  /** The text of a successful answer. */
  async #goodText(call: S3Call, response: IncomingMessage, silenceMs: number): Promise<string> {
    const { statusCode = 0 } = response;
    if (statusCode < 200 || statusCode > 299) throw await this.#failure(call, response);
    return this.#bodyText(call, response, silenceMs);
  }

  async #send(
    call: S3Call,
    { payload, body }: RequestBody,
    silenceMs = this.#timeouts.silenceMs,
  ): Promise<IncomingMessage> {
    const signed = await this.#signer.sign(call, payload);
    const isRepeatable = body === null || body instanceof Uint8Array;
    // An idle connection may close at this moment; only a repeatable call survives that.
    const agent = isRepeatable && this.#agent;
    return exchange({ what: nameOf(call), method: call.method, ...signed, body, silenceMs, agent });
  }

  /** The error that an unexpected answer means. */
  async #failure(call: S3Call, response: IncomingMessage): Promise<Error> {
    const { statusCode = 0 } = response;
    if (statusCode < 300) {
      // The body may be a whole large object.
      response.destroy();
      return new S3Error(nameOf(call), statusCode, '');
    }
    const code = readErrorCode(await this.#bodyText(call, response, this.#timeouts.silenceMs));
    if (statusCode === 404 && code === 'NoSuchKey') return new MissingObjectError(call.key);
    return new S3Error(nameOf(call), statusCode, code);
  }

  async #bodyText(call: S3Call, response: IncomingMessage, silenceMs: number): Promise<string> {
    const parts: Uint8Array[] = [];
    let came = 0;
    const body = new S3Body(response, { what: nameOf(call), sizeBytes: null, silenceMs });
    for await (const part of body as AsyncIterable<Uint8Array>) {
      came += part.length;
      if (came > TEXT_MAX_BYTES) throw new WireError(`${nameOf(call)}: the answer is too long`);
      parts.push(part);
    }
    return Buffer.concat(parts).toString('utf8');
  }

  async #repeated<T>(work: () => Promise<T>): Promise<T> {
    const { attempts, pauseMs, attemptsWithinMs } = this.#timeouts;
    const until = performance.now() + attemptsWithinMs;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        // Spread the retries, so that they don't all come at once.
        const pause = pauseMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
        const isLast = attempt >= attempts || performance.now() + pause > until;
        if (isLast || !isPassing(error)) throw asStoreError(error);
        await sleep(pause);
      }
    }
  }
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof MissingObjectError)) throw error;
}

function nameOf({ method, key }: S3Call): string {
  return `${method} ${key || 'the bucket'}`;
}

function lengthOf(call: S3Call, response: IncomingMessage): number {
  const text = response.headers['content-length'] ?? '';
  if (/^\d{1,15}$/.test(text)) return Number(text);
  response.destroy();
  throw new WireError(`${nameOf(call)}: the answer has no length`);
}
