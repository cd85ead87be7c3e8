import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  Agent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import { temporaryFolder } from '../helpers/gateway.ts';

interface Sent {
  readonly method: string;
  /** As it goes over the wire. */
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string | undefined;
  /** Null sends no key; the default is the project's admin key. */
  readonly key?: string | null;
}

export interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** The parsed JSON; undefined if it isn't JSON. */
  readonly json: unknown;
}

/** So long nothing that anybody sends may hold up the others, as `LongestTurn` measures it. */
const HELD_MAX = 10;
const TRIES = 3;
const PROGRAM = join(import.meta.dirname, 'gateway-program.ts');

interface Place {
  readonly url: string;
  readonly projects: readonly { readonly projectId: string; readonly apiKey: string }[];
}

/** A gateway in a separate process, which reports how long its event loop was blocked. */
export class FuzzedGateway {
  readonly url: string;
  readonly projectId: string;
  readonly apiKey: string;
  /** The admin key of another project. */
  readonly otherKey: string;
  readonly folder: string;
  readonly #child: ChildProcess;
  readonly #remove: () => void;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 8 });

  private constructor(child: ChildProcess, { url, projects }: Place, folder: Folder) {
    this.url = url;
    this.projectId = projects[0]?.projectId ?? '';
    this.apiKey = projects[0]?.apiKey ?? '';
    this.otherKey = projects[1]?.apiKey ?? '';
    this.folder = folder.path;
    this.#child = child;
    this.#remove = folder.remove;
  }

  static async start(): Promise<FuzzedGateway> {
    const folder = temporaryFolder();
    const child = spawn(process.execPath, ['--import', 'tsx', PROGRAM, folder.path], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    if (!child.stdout) throw new Error('It has no output.');
    for await (const line of createInterface({ input: child.stdout })) {
      return new FuzzedGateway(child, JSON.parse(line) as Place, folder);
    }
    throw new Error('It did not start.');
  }

  /** True while nothing has ended it. */
  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async send({ method, target, headers, body, key = this.apiKey }: Sent): Promise<Got> {
    const { hostname, port } = new URL(this.url);
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const call = httpRequest(
        {
          hostname,
          port,
          method,
          path: target,
          agent: this.#agent,
          headers: {
            ...(key !== null && { authorization: `Bearer ${key}` }),
            ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
            ...headers,
          },
        },
        resolve,
      );
      call.on('error', reject);
      call.end(body);
    });
    const bytes = await buffer(response);
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      bytes,
      json: jsonOf(bytes),
    };
  }

  /** Sends fields as JSON to an operation that has to succeed. */
  async call<T = Record<string, unknown>>(
    method: string,
    target: string,
    fields?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<T> {
    const got = await this.send({
      method,
      target,
      ...(fields !== undefined && { body: JSON.stringify(fields) }),
      headers: { 'content-type': 'application/json', ...headers },
    });
    if (got.status >= 300) throw new Error(`${method} ${target}: ${got.bytes.toString()}`);
    return got.json as T;
  }

  /** The number of the newest entry of the ledger. */
  async head(): Promise<number> {
    const { items } = await this.call<{ items: { seq: number }[] }>('GET', '/v1/ledger?limit=1');
    return items[0]?.seq ?? 0;
  }

  /**
   * Does what may be hostile, and tells when that held the event loop for longer than others should wait: three times, as
   * garbage may have been collected.
   */
  async unheld(work: (attempt: number) => Promise<void>): Promise<string[]> {
    const held: number[] = [];
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      await this.#held();
      await work(attempt);
      held.push(await this.#held());
      if ((held.at(-1) ?? 0) < HELD_MAX) return [];
    }
    return [`the event loop was held as long as by ${held.map(Math.round).join(', ')} hashes`];
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    const exited = this.isAlive ? once(this.#child, 'exit') : null;
    this.#child.kill('SIGTERM');
    await exited;
    this.#remove();
  }

  /** The longest time since it was asked before. */
  async #held(): Promise<number> {
    const answered = once(this.#child, 'message');
    this.#child.send('measure');
    const [turn] = (await answered) as [number];
    return turn;
  }
}

type Folder = ReturnType<typeof temporaryFolder>;

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
