import { isObject } from '../../shared/lib/guards.ts';
import type { CallOptions, Client } from '../call/client.ts';
import { askedMs, type SvcError } from '../../clients/typescript/core/errors.ts';
import { retried } from '../../clients/typescript/core/retried.ts';
import { filePath } from '../../shared/lib/path-text.ts';
import { badAnswer } from '../errors.ts';

/** A stored file, as in answers. */
export interface StoredFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** Null if the answer doesn't have it. */
  readonly sha256: string | null;
}

/** A stored file with its content or a link to it. */
export interface FetchedFile extends StoredFile {
  readonly content:
    | { readonly kind: 'bytes'; readonly bytes: Buffer }
    | { readonly kind: 'link'; readonly url: string };
}

export interface OpenUpload {
  readonly id: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

type Fields = Readonly<Record<string, unknown>>;

/** A body of this type is a message about an upload, not a file's bytes. */
const UPLOAD_TYPE = 'application/vnd.service.upload+json';
const PAGE = 100;
/** The server may need a while to finish a large file. */
const COMPLETE_TIMEOUT_MS = 120_000;
/** svc doesn't sit out a longer pause than this. */
const PAUSE_MAX_MS = 90_000;
const PAUSES_MAX = 10;

/** Whether the server would take a body of this type for an upload message. */
export function isUploadType(contentType: string): boolean {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() === UPLOAD_TYPE;
}

/** The project's files, through the API. */
export class RemoteDisk {
  readonly #client: Pick<Client, 'send'>;
  readonly #signal: AbortSignal;
  readonly #isForMany: boolean;

  /**
   * With `isForMany`, each file's write gets its own idempotency key, and svc sits out answers with `retry_after`,
   * which many calls in a row run into.
   */
  constructor(client: Pick<Client, 'send'>, signal: AbortSignal, { isForMany = false } = {}) {
    this.#client = client;
    this.#signal = signal;
    this.#isForMany = isForMany;
  }

  /** All files whose paths start with this prefix, in path order. */
  async *list(prefix: string): AsyncGenerator<StoredFile> {
    let cursor: string | undefined;
    do {
      const query = { prefix: prefix === '' ? undefined : prefix, cursor, limit: PAGE };
      const answer = fieldsOf(await this.#call('GET', '/v1/files', { query }));
      const { items, next_cursor: next } = answer;
      if (!Array.isArray(items)) throw unknownForm();
      for (const item of items) yield storedFile(item);
      cursor = typeof next === 'string' ? next : undefined;
    } while (cursor !== undefined);
  }

  async get(path: string): Promise<FetchedFile> {
    const answer = fieldsOf(await this.#call('GET', urlOf(path)));
    const { content_base64: base64, download_url: url } = answer;
    const file = storedFile(answer);
    if (typeof base64 === 'string') {
      return { ...file, content: { kind: 'bytes', bytes: Buffer.from(base64, 'base64') } };
    }
    if (typeof url === 'string') return { ...file, content: { kind: 'link', url } };
    throw unknownForm();
  }

  /** Saves bytes that fit in one request body. */
  async put(path: string, contentType: string, bytes: Uint8Array): Promise<Fields> {
    const headers = { 'content-type': contentType };
    const options = { bytes, headers, ...this.#step(path) };
    return fieldsOf(await this.#call('PUT', urlOf(path), options));
  }

  async beginUpload(path: string, size: number, contentType: string): Promise<OpenUpload> {
    const upload = { size, content_type: contentType };
    const answer = await this.#aboutUpload(path, { upload }, this.#step(path));
    const { upload_id: id, upload_url: url, upload_headers: headers } = answer;
    if (typeof id !== 'string' || typeof url !== 'string') throw unknownForm();
    const pairs = Object.entries(isObject(headers) ? headers : {});
    return {
      id,
      url,
      headers: Object.fromEntries(pairs.map(([name, one]) => [name, String(one)])),
    };
  }

  completeUpload(path: string, id: string): Promise<Fields> {
    const options = { timeoutMs: COMPLETE_TIMEOUT_MS, step: `complete ${path}` };
    return this.#aboutUpload(path, { complete: id }, options);
  }

  async delete(path: string): Promise<void> {
    await this.#call('DELETE', urlOf(path), this.#step(path));
  }

  async #aboutUpload(path: string, message: Fields, how: CallOptions): Promise<Fields> {
    const bytes = Buffer.from(JSON.stringify(message));
    const headers = { 'content-type': UPLOAD_TYPE };
    return fieldsOf(await this.#call('PUT', urlOf(path), { ...how, bytes, headers }));
  }

  #step(path: string): CallOptions {
    return this.#isForMany ? { step: path } : {};
  }

  #call(method: string, path: string, options: CallOptions = {}): Promise<unknown> {
    const signal = this.#signal;
    const isLast = (failure: SvcError, pauses: number): boolean => {
      const ms = askedMs(failure);
      return !this.#isForMany || pauses >= PAUSES_MAX || ms === 0 || ms > PAUSE_MAX_MS;
    };
    return retried(() => this.#client.send(method, path, { ...options, signal }), {
      signal,
      isLast,
    });
  }
}

function urlOf(path: string): string {
  if (!path.isWellFormed()) throw badAnswer("A stored path isn't valid Unicode.");
  return filePath(path);
}

/** Reads one stored file from an answer. */
export function storedFile(value: unknown): StoredFile {
  const { path, size_bytes: sizeBytes, sha256 } = fieldsOf(value);
  if (typeof path !== 'string' || typeof sizeBytes !== 'number') throw unknownForm();
  return { path, sizeBytes, sha256: typeof sha256 === 'string' ? sha256.toLowerCase() : null };
}

function fieldsOf(value: unknown): Fields {
  if (isObject(value)) return value;
  throw unknownForm();
}

function unknownForm(): Error {
  return badAnswer("This version of svc doesn't understand the answer about files.");
}
