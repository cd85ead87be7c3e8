import { Agent, request, type Dispatcher } from 'undici';
import { unavailable, type ServiceError } from '../../shared/lib/errors.ts';
import type { RemoteLocation } from '../../shared/store/location.ts';
import { clientAddress } from '../../shared/store/remote/address.ts';
import { isObject, parseObject } from '../../shared/lib/guards.ts';
import { FRAME_BYTES } from '../../shared/store/wal-layout.ts';
import type { FrameRange } from './log-file.ts';
import { openRemoteFile, type RemoteFile } from './remote-file.ts';

const CONNECT_MS = 5000;
/** From the question to the end of an answer that is read whole. */
const DEADLINE_MS = 10_000;
/** Until a file begins to come, and then between two portions of it, while somebody takes them. */
const FILE_SILENCE_MS = 30_000;
/** Of an answer in JSON. */
const JSON_MAX_BYTES = 64 * 1024;
/** Generations count to this. */
const U32_MAX = 2 ** 32 - 1;

type Response = Dispatcher.ResponseData;

/** The connections to all databases. Idle ones do not keep the process alive. */
const agent = new Agent({ connect: { timeout: CONNECT_MS } });

/** Frames; or the generation that is being written, where there are none yet; or null where the server has no such place. */
export type PrimaryFrames = Buffer | { readonly newest: number } | null;

/**
 * A database on a libSQL server, as its replicas see it: libSQL's sync protocol, under the address of the database. Asked with
 * the gateway's own token, which nobody else is shown. All methods reject with UNAVAILABLE where the server is in trouble,
 * refuses the token, or says what is not of the protocol.
 */
export class RemotePrimary {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ url, token }: RemoteLocation) {
    this.#base = clientAddress(url);
    this.#headers = token === null ? {} : { authorization: `Bearer ${token}` };
  }

  /** Where the database is, in one spelling. */
  get address(): string {
    return this.#base;
  }

  /** The generation that is being written; null where the server has no replicas to offer. */
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

  /** The file as the generation began; null where the server has no such place. Whoever gets it takes it or destroys it. */
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
    // A body that nobody reads to its end fails, and nobody else would listen to that.
    response.body.on('error', () => undefined);
    return response;
  }
}

/** A refused token is for the operator to mend; the others are said to pass by themselves. */
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
  throw unavailable(5, new Error('The database server sent what are no frames.'));
}

/** Null for what is no JSON object. */
async function readJson(response: Response): Promise<unknown> {
  const bytes = await readAtMost(response, JSON_MAX_BYTES);
  return bytes && parseObject(bytes.toString('utf8'));
}

/** Null when there is more of it. */
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

/** What it says is of no use; the connection is. */
async function drop({ body }: Response): Promise<void> {
  await body.dump({ limit: JSON_MAX_BYTES }).catch(() => undefined);
}
