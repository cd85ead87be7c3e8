import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { writeNumbers } from '../../shared/api/mcp/numbers.ts';
import { isObject, parseObject } from '../../shared/lib/guards.ts';
import { heldCall } from '../../shared/lib/held-call.ts';
import { Backoff } from '../../clients/typescript/core/backoff.ts';
import { machineClock, pauseWhile } from '../../clients/typescript/core/clock.ts';
import {
  answeredFailure,
  canBeSatOut,
  isCut,
  mayHaveArrived,
  messageOf,
  pageFailure,
  SvcError,
} from '../../clients/typescript/core/errors.ts';
import type { Client } from '../call/client.ts';
import type { HeldTool } from './held-tool.ts';
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

/** The timeout for a silent connection; a wait may hold its answer for 120 s. */
const SILENCE_MS = 180_000;
const SEND_TRIES = 4;
const JSON_TYPE = { 'content-type': 'application/json' };
const STREAM_TYPE = { 'content-type': 'text/event-stream' };

export interface EndpointOptions {
  readonly client: Client;
  /** Where to post: `/mcp`, with what else the address says. */
  readonly path: string;
  /** Starts the daemon if it doesn't answer. */
  readonly ensureDaemon: () => Promise<void>;
  /** For people, on standard error. */
  readonly note: (text: string) => void;
}

/** A request that its client waits for. */
export interface PendingCall {
  /** Cancels it. */
  readonly signal: AbortSignal;
  /** Set for a call that the server may hold. */
  readonly held: HeldTool | null;
  /** Nobody waits any longer: a held call is asked for what there is. */
  readonly hurry: AbortSignal;
}

/** One message to send, and how. */
interface OutgoingMessage {
  readonly id: MessageId | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly isHeld: boolean;
}

type HeldMessage = Pick<PendingCall, 'signal' | 'hurry'> &
  Pick<OutgoingMessage, 'headers'> & { readonly id: MessageId };

const NEVER = new AbortController().signal;

/** The `/mcp` of the daemon or a gateway, as `fetch` for the SDK's transport. */
export class Endpoint {
  readonly #options: EndpointOptions;
  #starting: Promise<void> | null = null;

  constructor(options: EndpointOptions) {
    this.#options = options;
  }

  /** Answers in JSON-RPC where the server doesn't. */
  async fetch(
    init: RequestInit | undefined,
    waitingFor: (id: MessageId) => PendingCall | undefined,
  ): Promise<Response> {
    // The server offers no stream besides the answers.
    if (init?.method !== 'POST') return new Response(null, { status: 405 });
    return this.#fetched(init, waitingFor);
  }

  async #fetched(
    init: RequestInit,
    waitingFor: (id: MessageId) => PendingCall | undefined,
  ): Promise<Response> {
    const line = writeNumbers(typeof init.body === 'string' ? init.body : '');
    const message = parseObject(line) ?? {};
    const id = 'method' in message ? idOf(message['id']) : null;
    const given = Object.fromEntries(new Headers(init.headers).entries());
    // A repeat after a lost answer has one effect.
    const headers = { ...given, ...headersOf(message, given), 'idempotency-key': randomUUID() };
    const waiting = id === null ? undefined : waitingFor(id);
    if (id !== null && waiting?.held) {
      const messages = this.#held(waiting.held, {
        id,
        headers,
        signal: waiting.signal,
        hurry: waiting.hurry,
      });
      return new Response(messages, { headers: STREAM_TYPE });
    }
    const signal = waiting?.signal ?? init.signal ?? NEVER;
    const sending = { id, headers, signal, isHeld: false };
    return this.#answer(await this.#send(Buffer.from(line), sending), sending);
  }

  /** Sends a message of the bridge's own, once. */
  post(message: Fields, signal: AbortSignal): Promise<IncomingMessage> {
    return this.#post(Buffer.from(JSON.stringify(message)), headersOf(message, {}), signal);
  }

  /**
   * The messages that answer a held call. If the connection cuts the call, it's made again for the rest of its time.
   */
  #held(held: HeldTool, { id, headers, signal, hurry }: HeldMessage): ReadableStream<Uint8Array> {
    const sending = { id, headers, isHeld: true };
    return new ReadableStream({
      start: async (controller) => {
        const pass = (json: string): void => controller.enqueue(frame(markedJson(json)));
        let isLast = false;
        const send = async (left: number): Promise<void> => {
          isLast = hurry.aborted;
          const until = isLast ? signal : AbortSignal.any([signal, hurry]);
          const line = held.line(isLast ? held.least : left);
          const answer = await this.#send(line, { ...sending, signal: until });
          await passOn(answer, { id, signal: until, pass });
        };
        try {
          await heldCall({
            seconds: held.seconds,
            leastSeconds: held.least,
            send,
            isCut: (error, hasWorked) =>
              !signal.aborted && ((hurry.aborted && !isLast) || isCut(error, hasWorked)),
            pause: (ms) => pauseWhile(machineClock, ms, signal),
          });
        } catch (error) {
          if (!signal.aborted) pass(errorLine(id, SERVER_ERROR, messageOf(error)));
        }
        controller.close();
      },
    });
  }

  /** POSTs the message. If nothing takes it, starts the daemon and repeats the message with the same idempotency key. */
  async #send(line: Buffer, sending: OutgoingMessage): Promise<EndpointResponse> {
    const { headers, signal, isHeld } = sending;
    const backoff = new Backoff();
    for (;;) {
      try {
        return await received(await this.#post(line, headers, signal), sending);
      } catch (error) {
        const isDone = signal.aborted || !canBeSatOut(error) || backoff.failures >= SEND_TRIES;
        if (isDone || (isHeld && mayHaveArrived(error))) throw error;
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

  #answer(
    { status, session, stream, body }: EndpointResponse,
    { id, signal }: OutgoingMessage,
  ): Response {
    const kept = { ...(session !== undefined && { 'mcp-session-id': session }) };
    if (id !== null && stream !== null) {
      const frames = ReadableStream.from(framesOf(stream, id, signal));
      return new Response(frames, { headers: { ...kept, ...STREAM_TYPE } });
    }
    if (id === null) {
      if (status >= 400) {
        this.#options.note(restErrorText(body) ?? `The daemon answered ${status}.`);
      }
      return new Response(null, { status: 202 });
    }
    const headers = { ...kept, ...JSON_TYPE };
    return new Response(markedJson(answerIn(body, status, id)), { headers });
  }
}

/** An answer whose status and headers are here; a stream's events come later. */
interface EndpointResponse {
  readonly status: number;
  readonly session: string | undefined;
  readonly stream: IncomingMessage | null;
  readonly body: string;
}

/** Throws if the connection failed: the answer broke off, or something in front of the server answered. */
async function received(
  response: IncomingMessage,
  { id, signal }: OutgoingMessage,
): Promise<EndpointResponse> {
  signal.addEventListener('abort', () => response.destroy(), { once: true });
  const { statusCode: status = 0, headers } = response;
  const session = headers['mcp-session-id'];
  const answer = { status, session: typeof session === 'string' ? session : undefined };
  if (id !== null && isEvents(headers)) return { ...answer, stream: response, body: '' };
  const body = await unbroken(text(response), signal);
  const isSaid = id === null || answerOf(body, id) !== null;
  const failure = isSaid ? null : failureIn(status, body, headers);
  if (failure?.retryable) throw failure;
  return { ...answer, stream: null, body };
}

function isEvents({ 'content-type': type = '' }: IncomingMessage['headers']): boolean {
  return type.split(';', 1)[0]?.trim().toLowerCase() === 'text/event-stream';
}

/** What an answer says that isn't JSON-RPC. */
function failureIn(status: number, body: string, headers: IncomingMessage['headers']): SvcError {
  const server = typeof headers.server === 'string' ? headers.server : null;
  const place = { server };
  const asked = headers['retry-after'] ?? null;
  return new SvcError(
    status < 400
      ? pageFailure(status, place)
      : answeredFailure(status, parseObject(body), null, asked, place),
  );
}

/** A connection that breaks within an answer: the call may have had its effect. */
async function unbroken<T>(reading: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (signal.aborted || error instanceof SvcError) throw error;
    throw brokenOff(error);
  }
}

function brokenOff(cause?: unknown): SvcError {
  const message = 'The answer broke off.';
  return new SvcError({ code: 'UNREACHABLE', message, sent: true, cause });
}

interface Passing {
  readonly id: MessageId;
  readonly signal: AbortSignal;
  readonly pass: (json: string) => void;
}

/** Passes on the messages that answer a held call. Throws if the last one is missing. */
async function passOn({ stream, status, body }: EndpointResponse, passing: Passing): Promise<void> {
  const { id, signal, pass } = passing;
  if (stream === null) {
    const answer = answerIn(body, status, id);
    refuseBusy(answer);
    return pass(answer);
  }
  const read = async (): Promise<void> => {
    for await (const json of readEvents(stream)) {
      const isLast = isAnswerTo(json, id);
      if (isLast) refuseBusy(json);
      // Some streams open with an event without data, which isn't a message.
      if (json.trim() !== '') pass(json);
      if (isLast) return;
    }
    throw brokenOff();
  };
  await unbroken(read(), signal);
}

/** The server may still be running the first try, which the connection cut. */
function refuseBusy(json: string): void {
  const result = parseObject(json)?.['result'];
  if (!isObject(result) || result['isError'] !== true) return;
  const code = 'IDEMPOTENCY_IN_PROGRESS';
  const [first] = Array.isArray(result['content']) ? (result['content'] as unknown[]) : [];
  const said = isObject(first) ? String(first['text']) : '';
  if (said.startsWith(code)) throw new SvcError({ code, message: said });
}

function answerIn(body: string, status: number, id: MessageId): string {
  const said = restErrorText(body) ?? `The daemon answered ${status} without a message.`;
  return answerOf(body, id) ?? errorLine(id, SERVER_ERROR, said);
}

/** The events of a stream, one message each. Adds an answer if the stream ends without one and nobody has cancelled it. */
async function* framesOf(
  response: IncomingMessage,
  id: MessageId,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  let answered = false;
  try {
    for await (const json of readEvents(response)) {
      // Some streams open with an event without data, which isn't a message.
      if (json.trim() === '') continue;
      answered ||= isAnswerTo(json, id);
      yield frame(markedJson(json));
    }
  } catch {
    // The connection broke or the daemon died, so tell the client.
  }
  const why = 'The daemon ended the stream before it answered.';
  if (!answered && !signal.aborted) yield frame(errorLine(id, SERVER_ERROR, why));
}

function frame(json: string): Buffer {
  return Buffer.from(`data: ${json.replace(/[\r\n]+/g, ' ')}\n\n`);
}
