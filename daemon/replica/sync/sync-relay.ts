import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpServer, type HttpServerOptions } from '../../../shared/http/http-server.ts';
import type { Link } from './link.ts';
import type { SyncedTo } from './replica-folder.ts';
import { SourceError, type SourceFault } from './source-error.ts';
import { FRAME_BYTES } from '../../../shared/store/log/wal-layout.ts';
import type { FrameNumbers } from '../verify/frame-numbers.ts';
import type { ReplicaSource } from './source.ts';

/** The only paths that the client asks for once a replica exists. */
const INFO = /^\/[\w-]{1,64}\/info$/;
const FRAMES = /^\/([\w-]{1,64})\/sync\/(\d{1,10})\/([1-9]\d{0,9})\/\d{1,10}$/;
/** How many frames we ask for at once: 1 MB. The client asks for half as many, and takes any number. */
const FRAMES_ASKED = 250;

/**
 * The status for everything outside the protocol. The client takes 400 and 500 for the end of a generation, and retries
 * the other 5xx for six seconds, during which we can't tell it that the gateway is back.
 */
const TROUBLE = 424;
const GONE = 404;
const STATUS_OF: Partial<Record<SourceFault, number>> = { refused: 403, missing: GONE };

const SERVER: HttpServerOptions = {
  limits: { headersMs: 10_000, bodyMs: 10_000, keepAliveMs: 60_000 },
  connectionsMax: 16,
};

type Source = Pick<ReplicaSource, 'frames' | 'received'>;

/** The end of the frames that we passed on. */
interface FrameEnd {
  readonly epoch: string;
  readonly generation: number;
  readonly from: number;
}

interface Reply {
  readonly status: number;
  readonly body: string | Uint8Array;
}

/**
 * The native database client talks to this relay on loopback, and the relay talks to the gateway. So Node checks the
 * certificates, as for every other call, and native code never sees an answer from a proxy in front of the gateway.
 */
export class SyncRelay {
  readonly #source: Source;
  readonly #numbers: FrameNumbers;
  readonly #onCheckpoint: (ended: SyncedTo) => Promise<void>;
  readonly #closing = new AbortController();
  /** Replaces the API key, which the other process doesn't need. */
  readonly #token = randomBytes(32).toString('hex');
  #server: Promise<HttpServer> | null = null;
  #end: FrameEnd | null = null;
  #questions = 0;

  /** Calls `onCheckpoint` before it tells the client to checkpoint the log of a generation that ended. */
  constructor(
    source: Source,
    numbers: FrameNumbers,
    onCheckpoint: (ended: SyncedTo) => Promise<void>,
  ) {
    this.#source = source;
    this.#numbers = numbers;
    this.#onCheckpoint = onCheckpoint;
  }

  /** The client's address and credential for this history. */
  async link(epoch: string): Promise<Link> {
    this.#server ??= this.#listen();
    const { port } = await this.#server;
    return {
      syncUrl: `http://127.0.0.1:${port}/${epoch}`,
      token: this.#token,
      progress: () => this.#source.received,
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const server = await this.#server?.catch(() => null);
    await server?.close(0);
  }

  #listen(): Promise<HttpServer> {
    const listening = HttpServer.listen(
      { host: '127.0.0.1', port: 0 },
      () => (request, response) => void this.#answer(request, response),
      SERVER,
    );
    listening.catch(() => {
      this.#server = null;
    });
    return listening;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = this.#isOurs(request)
      ? await this.#ask(request.url ?? '').catch(replyOfError)
      : { status: 403, body: '' };
    response.writeHead(reply.status, { 'Content-Length': Buffer.byteLength(reply.body) });
    response.end(reply.body);
  }

  #isOurs({ method, headers }: IncomingMessage): boolean {
    const given = Buffer.from(headers.authorization ?? '');
    const wanted = Buffer.from(`Bearer ${this.#token}`);
    return method === 'GET' && given.length === wanted.length && timingSafeEqual(given, wanted);
  }

  async #ask(path: string): Promise<Reply> {
    // To the client, any answer means that we speak the protocol, so it can open without the gateway.
    if (INFO.test(path)) return json(200, { current_generation: 1 });
    const [, epoch, ...numbers] = FRAMES.exec(path) ?? [];
    if (epoch === undefined) return { status: TROUBLE, body: '' };
    const [generation = 0, from = 0] = numbers.map(Number);
    if (this.#isEnd({ epoch, generation, from })) return json(400, { generation });
    return this.#pull({ epoch, generation, from });
  }

  /** The frames that the client gets next. */
  async #pull({ epoch, generation, from }: FrameEnd): Promise<Reply> {
    const position = this.#numbers.find(generation, from - 1);
    // The client's log isn't what we passed on, so nobody has the frames after it.
    if (!position) return { status: GONE, body: '' };
    const question = (this.#questions += 1);
    const [first, end] = [position.theirs + 1, position.theirs + 1 + FRAMES_ASKED];
    const range = { generation, from: first, to: end };
    const answer = await this.#source.frames(epoch, range, this.#closing.signal);
    // Each client asks one question at a time: somebody killed the one that asked this.
    if (question !== this.#questions) return { status: TROUBLE, body: '' };
    if ('newest' in answer) {
      if (answer.newest > generation) await this.#onCheckpoint({ generation, frames: from - 1 });
      return json(400, { generation: answer.newest });
    }
    const passed = await this.#numbers.pass(generation, position, answer.frames);
    const { frames, taken, endsCommit } = passed;
    const count = frames.length / FRAME_BYTES;
    const received = answer.frames.length / FRAME_BYTES;
    const isAll = endsCommit && taken === received && received < FRAMES_ASKED;
    this.#end = isAll ? { epoch, generation, from: from + count } : null;
    return { status: 200, body: frames };
  }

  /**
   * After a short answer, the client asks for more. The stream announces later frames, so that question needn't cross
   * the network; if the client repeats it, it does.
   */
  #isEnd({ epoch, generation, from }: FrameEnd): boolean {
    const end = this.#end;
    this.#end = null;
    return end?.epoch === epoch && end.generation === generation && end.from === from;
  }
}

function json(status: number, value: unknown): Reply {
  return { status, body: JSON.stringify(value) };
}

function replyOfError(error: unknown): Reply {
  const status = error instanceof SourceError ? STATUS_OF[error.fault] : undefined;
  return { status: status ?? TROUBLE, body: error instanceof Error ? error.message : '' };
}
