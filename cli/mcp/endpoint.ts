import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { writeNumbers } from '../../shared/api/mcp/numbers.ts';
import { parseObject } from '../../shared/lib/guards.ts';
import type { Client } from '../client.ts';
import { Backoff } from '../../clients/typescript/core/backoff.ts';
import {
  answerOf,
  errorLine,
  headersOf,
  idOf,
  isAnswerTo,
  restErrorText,
  SERVER_ERROR,
  type Fields,
  type MessageId,
} from './message.ts';
import { markedJson } from './numbers.ts';
import { readEvents } from './sse.ts';
import { canBeSatOut, messageOf } from '../../clients/typescript/core/errors.ts';

/** The timeout for a silent connection; a wait may hold its answer for 120 s. */
const SILENCE_MS = 180_000;
const SEND_TRIES = 4;

export interface EndpointOptions {
  readonly client: Client;
  /** Where to post: `/mcp`, with what else the address says. */
  readonly path: string;
  /** Starts the daemon if it doesn't answer. */
  readonly ensureDaemon: () => Promise<void>;
  /** For people, on standard error. */
  readonly note: (text: string) => void;
}

/** The `/mcp` of the daemon or a gateway, as `fetch` for the SDK's transport. */
export class Endpoint {
  readonly #options: EndpointOptions;
  #starting: Promise<void> | null = null;

  constructor(options: EndpointOptions) {
    this.#options = options;
  }

  /** Answers in JSON-RPC where the server doesn't. `signalOf` returns the signal that cancels a request. */
  async fetch(
    init: RequestInit | undefined,
    signalOf: (id: MessageId) => AbortSignal | undefined,
  ): Promise<Response> {
    // The server offers no stream besides the answers.
    if (init?.method !== 'POST') return new Response(null, { status: 405 });
    const line = writeNumbers(typeof init.body === 'string' ? init.body : '');
    const message = parseObject(line) ?? {};
    const id = 'method' in message ? idOf(message['id']) : null;
    const signal = (id !== null && signalOf(id)) || init.signal || new AbortController().signal;
    const given = Object.fromEntries(new Headers(init.headers).entries());
    const headers = { ...given, ...headersOf(message, given) };
    const response = await this.#send(Buffer.from(line), headers, signal);
    return this.#answer(response, id, signal);
  }

  /** Sends a message of the bridge's own, once. */
  post(message: Fields, signal: AbortSignal): Promise<IncomingMessage> {
    return this.#post(Buffer.from(JSON.stringify(message)), headersOf(message, {}), signal);
  }

  /** POSTs the message. If the daemon is away, starts it and repeats the message with the same idempotency key. */
  async #send(
    line: Buffer,
    given: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const headers = { ...given, 'Idempotency-Key': randomUUID() };
    const backoff = new Backoff();
    for (;;) {
      try {
        return await this.#post(line, headers, signal);
      } catch (error) {
        if (signal.aborted || !canBeSatOut(error) || backoff.failures >= SEND_TRIES) throw error;
        await this.#start(error);
        await backoff.pause(error, signal);
      }
    }
  }

  #post(
    bytes: Buffer,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const { client, path } = this.#options;
    return client.raw('POST', path, { bytes, headers, signal, timeoutMs: SILENCE_MS });
  }

  /** Starts the daemon once for all requests that found it gone. */
  async #start(why: unknown): Promise<void> {
    const { ensureDaemon } = this.#options;
    this.#starting ??= ensureDaemon().finally(() => (this.#starting = null));
    try {
      await this.#starting;
    } catch (error) {
      throw new Error(`${messageOf(why)} Starting it failed: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  async #answer(
    response: IncomingMessage,
    id: MessageId | null,
    signal: AbortSignal,
  ): Promise<Response> {
    const end = (): unknown => response.destroy();
    signal.addEventListener('abort', end, { once: true });
    const session = response.headers['mcp-session-id'];
    const kept = { ...(typeof session === 'string' && { 'mcp-session-id': session }) };
    const type = (response.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
    if (id !== null && type === 'text/event-stream') {
      const body = Readable.toWeb(Readable.from(frames(response, id))) as ReadableStream;
      return new Response(body, { headers: { ...kept, 'content-type': type } });
    }
    const text = (await buffer(response)).toString('utf8');
    const status = response.statusCode ?? 0;
    if (id === null) {
      if (status >= 400)
        this.#options.note(restErrorText(text) ?? `The daemon answered ${status}.`);
      return new Response(null, { status: 202 });
    }
    const said = restErrorText(text) ?? `The daemon answered ${status} without a message.`;
    const answer = answerOf(text, id) ?? errorLine(id, SERVER_ERROR, said);
    const headers = { ...kept, 'content-type': 'application/json' };
    return new Response(markedJson(answer), { headers });
  }
}

/** The events of a stream, one message each. If the stream ends without an answer, adds one. */
async function* frames(response: IncomingMessage, id: MessageId): AsyncGenerator<Buffer> {
  let answered = false;
  for await (const text of readEvents(response)) {
    // Some streams open with an event without data, which isn't a message.
    if (text.trim() === '') continue;
    answered ||= isAnswerTo(text, id);
    yield frame(markedJson(text));
  }
  const why = 'The daemon ended the stream before it answered.';
  if (!answered) yield frame(errorLine(id, SERVER_ERROR, why));
}

function frame(json: string): Buffer {
  return Buffer.from(`data: ${json.replace(/[\r\n]+/g, ' ')}\n\n`);
}
