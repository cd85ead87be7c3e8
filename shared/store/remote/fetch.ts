import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, Client, request as send, type Dispatcher } from 'undici';
import { deadline } from '../../lib/deadline.ts';
import { HttpRefusal } from './failure.ts';

/** How long to wait without receiving a byte. A server waits about half as long for another client's transaction. */
const DEADLINE_MS = 10_000;
const KEEP_ALIVE_MS = 30_000;
/** When a question to the server is tried, each time over a connection of its own, and how long all of them may take. */
const TRIES_AT_MS = [0, 200, 400, 600, 800];
const ANSWER_MS = 1_000;
/** How much to read of the answer to a refused request. */
const REASON_CHARACTERS = 200;
const REASON_BYTES = 16 * 1024;

const CONNECTION = {
  keepAliveTimeout: KEEP_ALIVE_MS,
  connect: { timeout: DEADLINE_MS / 2 },
  headersTimeout: DEADLINE_MS,
  bodyTimeout: DEADLINE_MS,
};

/** This thread's connections to all databases. Idle ones don't keep the process alive. */
let agent = new Agent(CONNECTION);

/**
 * A server answered over a new connection what it didn't over a kept one: requests to come get new ones. Those under way
 * go on.
 */
export function renewConnections(): void {
  void agent.close();
  agent = new Agent(CONNECTION);
}

/** The parts of a response that the libSQL client uses. */
interface PlainResponse {
  readonly ok: true;
  readonly status: number;
  json(): Promise<unknown>;
}

/** `sqld` takes a database's name from this header, or from the host name, even if the path has it, too. */
const NAMESPACE_IN_PATH = /^\/dev\/([^/]+)\//;

/** By origin: a question that somebody has just asked. */
const asking = new Map<string, Promise<boolean>>();

/** Whether the server answers anything over a new connection. Callers of the same moment share a question. */
export function answersAfresh(url: string): Promise<boolean> {
  const { origin } = new URL(url);
  const asked = asking.get(origin) ?? ask(origin).finally(() => asking.delete(origin));
  asking.set(origin, asked);
  return asked;
}

/** A connection from before the line was back stays silent, so the tries don't wait for each other. */
async function ask(origin: string): Promise<boolean> {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, deadline(ANSWER_MS)]);
  const tries = TRIES_AT_MS.map(async (ms) => {
    await sleep(ms, undefined, { signal });
    await expectAnswer(origin, signal);
  });
  try {
    await Promise.any(tries);
    return true;
  } catch {
    return false;
  } finally {
    over.abort();
  }
}

async function expectAnswer(origin: string, signal: AbortSignal): Promise<void> {
  const connection = new Client(origin, CONNECTION);
  try {
    const { statusCode } = await connection.request({ method: 'GET', path: '/', signal });
    // A proxy before it may answer for a server that's away.
    if (statusCode >= 500) throw new HttpRefusal(statusCode, '');
  } finally {
    void connection.destroy();
  }
}

/** Replaces `fetch`, which takes about twice as long. Throws HttpRefusal for any status other than 2xx. */
export function fetchPipeline(request: Request): Promise<PlainResponse> {
  return pipeline(request, agent);
}

/** The same over a connection of its own. */
export async function fetchAfresh(request: Request): Promise<PlainResponse> {
  const connection = new Client(new URL(request.url).origin, CONNECTION);
  try {
    const response = await pipeline(request, connection);
    const value = await response.json();
    return { ...response, json: async () => value };
  } finally {
    void connection.destroy();
  }
}

async function pipeline(request: Request, dispatcher: Dispatcher): Promise<PlainResponse> {
  const { statusCode: status, body } = await send(request.url, {
    method: 'POST',
    headers: { ...Object.fromEntries(request.headers), ...namespaceOf(request) },
    body: Buffer.from(await request.arrayBuffer()),
    dispatcher,
  });
  if (status >= 200 && status < 300) return { ok: true, status, json: () => body.json() };
  const reason = await beginOf(body);
  const token = request.headers.get('authorization')?.replace(/^Bearer /, '');
  // If the token is wrong, the reason may quote it or a part of it.
  const isQuoted = token !== undefined && reason.includes(token);
  const isShown = status !== 401 && status !== 403 && !isQuoted;
  throw new HttpRefusal(status, isShown ? reason.slice(0, REASON_CHARACTERS) : '');
}

function namespaceOf({ url }: Request): Readonly<Record<string, string>> {
  const name = NAMESPACE_IN_PATH.exec(new URL(url).pathname)?.[1];
  return name === undefined ? {} : { 'x-namespace': decodeURIComponent(name) };
}

/** Stops reading after REASON_BYTES, however much the server sends. */
async function beginOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > REASON_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}
