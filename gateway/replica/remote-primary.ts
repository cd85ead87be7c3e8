import { Agent, request, type Dispatcher } from 'undici';
import { unavailable, type ServiceError } from '../../shared/lib/errors.ts';
import type { RemoteLocation } from '../../shared/store/location.ts';
import { clientAddress } from '../../shared/store/remote/address.ts';
import { isObject, parseObject } from '../../shared/lib/guards.ts';
import { FRAME_BYTES } from '../../shared/store/wal-layout.ts';
import type { FrameRange } from './log-file.ts';
import { openRemoteFile, type RemoteFile } from './remote-file.ts';

const CONNECT_MS = 5000;
/** From sending a request to reading its whole answer. */
const DEADLINE_MS = 10_000;
/** The longest silence before a file's first chunk, and between chunks while the client reads. */
const FILE_SILENCE_MS = 30_000;
/** The largest JSON answer. */
const JSON_MAX_BYTES = 64 * 1024;
/** The largest generation number. */
const U32_MAX = 2 ** 32 - 1;

type Response = Dispatcher.ResponseData;

/** Connections to all databases. Idle ones don't keep the process alive. */
const agent = new Agent({ connect: { timeout: CONNECT_MS } });

/** Frames; the current generation if there are none yet; null if the server doesn't have that position. */
export type PrimaryFrames = Buffer | { readonly newest: number } | null;

/**
 * Client of libSQL's sync protocol for one database on a server. It uses the gateway's own token, which nobody else sees. All
 * methods reject with UNAVAILABLE if the server fails, refuses the token, or breaks the protocol.
 */
export class RemotePrimary {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ url, token }: RemoteLocation) {
    this.#base = clientAddress(url);
    this.#headers = token === null ? {} : { authorization: `Bearer ${token}` };
  }

  /** The database's address, normalized. */
  get address(): string {
    return this.#base;
  }

  /** The current generation; null if the server offers no replicas. */
  async generation(): Promise<number | null> {
    const response = await this.#ask('info');
    const { statusCode } = response;
    if (statusCode === 200) return generationIn(await readJson(response), 'current_generation');
    await drop(response);
    if (mayPass(statusCode)) throw trouble('info', statusCode);
    return null;
  }

  async frames(generation: number, { from, to }: FrameRange): Promise<PrimaryFrames> {
    const response = await this.#ask(`sync/${generation}/${from}/${to}`);
    const { statusCode } = response;
    if (statusCode === 200)
      return wholeFrames(await readAtMost(response, (to - from) * FRAME_BYTES));
    if (statusCode === 400) {
      const newest = generationIn(await readJson(response), 'generation');
      if (newest !== null) return { newest };
    }
    await drop(response);
    if (statusCode === 404) return null;
    throw trouble('sync', statusCode);
  }

  /** The file as of the start of a generation; null if the server doesn't have it. Read it or destroy it. */
  async file(generation: number): Promise<RemoteFile | null> {
    const response = await this.#get(`export/${generation}`, {
      headersTimeout: FILE_SILENCE_MS,
      bodyTimeout: FILE_SILENCE_MS,
    });
    if (response.statusCode === 200) return openRemoteFile(response).catch(asTrouble);
    await drop(response);
    if (response.statusCode === 404) return null;
    throw trouble('export', response.statusCode);
  }

  #ask(path: string): Promise<Response> {
    return this.#get(path, { signal: AbortSignal.timeout(DEADLINE_MS) });
  }

  async #get(path: string, limits: Partial<Dispatcher.RequestOptions>): Promise<Response> {
    const options = { dispatcher: agent, headers: this.#headers, ...limits };
    const response = await request(this.#base + path, options).catch(asTrouble);
    // An unread body emits an error, and nothing else listens for it.
    response.body.on('error', () => undefined);
    return response;
  }
}

/** The operator must fix a refused token; the other errors pass. */
function mayPass(status: number): boolean {
  return status >= 500 || [401, 408, 425, 429].includes(status);
}

function trouble(what: string, status: number): ServiceError {
  const hint = status === 401 ? ': see SVC_DATABASE_TOKEN' : '';
  return unavailable(5, new Error(`The database server answered ${status} to ${what}${hint}.`));
}

function asTrouble(error: unknown): never {
  throw unavailable(5, error);
}

function generationIn(value: unknown, name: string): number | null {
  const generation = isObject(value) ? value[name] : null;
  const isOne = typeof generation === 'number' && Number.isInteger(generation);
  return isOne && generation >= 1 && generation <= U32_MAX ? generation : null;
}

function wholeFrames(bytes: Buffer | null): Buffer {
  if (bytes && bytes.length > 0 && bytes.length % FRAME_BYTES === 0) return bytes;
  throw unavailable(5, new Error('The database server sent invalid frames.'));
}

/** Null if the body isn't a JSON object. */
async function readJson(response: Response): Promise<unknown> {
  const bytes = await readAtMost(response, JSON_MAX_BYTES);
  return bytes && parseObject(bytes.toString('utf8'));
}

/** Null if the body is longer. */
async function readAtMost({ body }: Response, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) return null;
      chunks.push(chunk);
    }
  } catch (error) {
    throw unavailable(5, error);
  }
  return Buffer.concat(chunks, bytes);
}

/** Reads the body to the end so that the connection can be reused. */
async function drop({ body }: Response): Promise<void> {
  await body.dump({ limit: JSON_MAX_BYTES }).catch(() => undefined);
}
