import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { WAIT_MAX_SECONDS } from '../../shared/limits.ts';
import type { Client } from '../client.ts';
import { messageOf } from '../errors.ts';
import { LineWriter, readLines } from './lines.ts';
import {
  answerLine,
  doneLine,
  errorLine,
  isAnswerTo,
  LISTEN_METHOD,
  messageHeaders,
  negotiatedVersion,
  PARSE_ERROR,
  readMessage,
  restErrorText,
  SERVER_ERROR,
  withSubscriptions,
  type ClientMessage,
  type MessageId,
  type Negotiated,
} from './message.ts';
import { canBeSatOut } from '../retry/passing.ts';
import { Patience, sleep } from '../work/patience.ts';
import { readEvents } from './sse.ts';
import { SubscriptionRefused, Subscriptions } from './subscriptions.ts';

/** A wait may be held for 120 s and is silent at most this long. */
const SILENCE_MS = 180_000;
const SEND_TRIES = 4;
/** Beyond this many open requests the input waits. */
const OPEN_MAX = 256;
/** How long answers on their way may still take once the input has ended: the longest wait, and some more. */
const ENDING_MS = (WAIT_MAX_SECONDS + 15) * 1000;

export interface BridgeOptions {
  readonly client: Client;
  readonly input: Readable;
  readonly output: Writable;
  /** Starts the daemon when none answers. */
  readonly ensureDaemon: () => Promise<void>;
  /** Ends the bridge at once. */
  readonly signal: AbortSignal;
  /** How long answers on their way may still take once the input has ended; without it as long as the longest wait. */
  readonly endingMs?: number;
  /** For people, on standard error. */
  readonly note: (text: string) => void;
}

interface Open {
  readonly message: ClientMessage;
  readonly abort: AbortController;
}

/** Passes MCP messages between a client on standard input and output and the daemon's `/mcp`. */
export class McpBridge {
  readonly #options: BridgeOptions;
  readonly #writer: LineWriter;
  readonly #open = new Map<MessageId, Open>();
  readonly #jobs = new Set<Promise<void>>();
  readonly #subscriptions: Subscriptions;
  #negotiated: Negotiated = { version: null, session: null };
  #starting: Promise<void> | null = null;

  constructor(options: BridgeOptions) {
    this.#options = options;
    this.#writer = new LineWriter(options.output);
    this.#subscriptions = new Subscriptions({
      post: (line, signal) => this.#post(line, readMessage(line), signal),
      write: (json) => this.#writer.write(json),
      note: options.note,
    });
  }

  /** Resolves when the input has ended and nothing is on its way any more. */
  async run(): Promise<void> {
    const { input, signal } = this.#options;
    const end = (): unknown => input.destroy();
    signal.addEventListener('abort', end, { once: true });
    try {
      for await (const line of readLines(input)) await this.#take(line);
    } catch (error) {
      if (!signal.aborted) this.#options.note(`The input broke off: ${messageOf(error)}`);
    } finally {
      signal.removeEventListener('abort', end);
    }
    this.#endSubscriptions();
    if (!signal.aborted) await this.#settle();
    for (const { abort } of this.#open.values()) abort.abort();
    await Promise.all(this.#jobs);
  }

  /** Nobody waits for the end of these. */
  #endSubscriptions(): void {
    this.#subscriptions.end();
    for (const { message, abort } of this.#open.values()) {
      if (message.method === LISTEN_METHOD) abort.abort();
    }
  }

  /** Who pipes requests in and closes the input, as `printf … | svc mcp` does, should get all answers. */
  async #settle(): Promise<void> {
    const { signal, endingMs = ENDING_MS } = this.#options;
    const done = new AbortController();
    const answered = Promise.all(this.#jobs).then(() => done.abort());
    await Promise.race([answered, sleep(endingMs, AbortSignal.any([done.signal, signal]))]);
  }

  async #take(line: Buffer | null): Promise<void> {
    if (line === null)
      return this.#writer.write(errorLine(null, PARSE_ERROR, 'The line is too long.'));
    if (line.length === 0 || line.toString('utf8').trim() === '') return;
    const message = readMessage(line);
    if (message === null) {
      return this.#writer.write(errorLine(null, PARSE_ERROR, 'The line is no JSON.'));
    }
    if (message.cancels !== null) {
      // The dropped connection is what tells the daemon; a cancelled request gets no answer.
      this.#open.get(message.cancels)?.abort.abort();
      return;
    }
    const job = this.#answer(line, message).finally(() => this.#jobs.delete(job));
    this.#jobs.add(job);
    if (this.#jobs.size >= OPEN_MAX) await Promise.race(this.#jobs);
  }

  /** Subscriptions of older revisions are kept here; newer ones have streams of their own. */
  #answer(line: Buffer, message: ClientMessage): Promise<void> {
    const { id, method, subject, version } = message;
    if (version === null && id !== null && subject !== null) {
      if (method === 'resources/subscribe') return this.#subscribe(id, subject);
      if (method === 'resources/unsubscribe') {
        this.#subscriptions.unsubscribe(subject);
        return this.#writer.write(doneLine(id));
      }
    }
    if (version === null && method === 'resources/list') this.#subscriptions.followList();
    return this.#pass(line, message);
  }

  async #subscribe(id: MessageId, uri: string): Promise<void> {
    try {
      await this.#subscriptions.subscribe(uri);
      await this.#writer.write(doneLine(id));
    } catch (error) {
      const code = error instanceof SubscriptionRefused ? error.code : SERVER_ERROR;
      await this.#writer.write(errorLine(id, code, messageOf(error)));
    }
  }

  async #pass(line: Buffer, message: ClientMessage): Promise<void> {
    const abort = new AbortController();
    const open: Open = { message, abort };
    const { id } = message;
    if (id !== null) this.#open.set(id, open);
    try {
      await this.#receive(await this.#send(line, open), open);
    } catch (error) {
      if (abort.signal.aborted) return;
      this.#options.note(messageOf(error));
      if (id !== null) await this.#writer.write(errorLine(id, SERVER_ERROR, messageOf(error)));
    } finally {
      if (id !== null && this.#open.get(id) === open) this.#open.delete(id);
    }
  }

  /** POSTs the line. While the daemon is away it is started again and the line repeated, under one key: no call counts twice. */
  async #send(line: Buffer, { message, abort }: Open): Promise<IncomingMessage> {
    const headers = { 'Idempotency-Key': randomUUID() };
    const patience = new Patience();
    for (;;) {
      try {
        return await this.#post(line, message, abort.signal, headers);
      } catch (error) {
        if (abort.signal.aborted || !canBeSatOut(error) || patience.failures >= SEND_TRIES)
          throw error;
        await this.#start(error);
        await patience.pause(error, abort.signal);
      }
    }
  }

  #post(
    line: Buffer,
    message: ClientMessage | null,
    signal: AbortSignal,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<IncomingMessage> {
    return this.#options.client.raw('POST', '/mcp', {
      bytes: line,
      headers: { ...(message && messageHeaders(message, this.#negotiated)), ...headers },
      signal,
      timeoutMs: SILENCE_MS,
    });
  }

  /** One start for all requests that found the daemon gone. */
  async #start(why: unknown): Promise<void> {
    this.#starting ??= this.#options.ensureDaemon().finally(() => (this.#starting = null));
    try {
      await this.#starting;
    } catch (error) {
      throw new Error(`${messageOf(why)} Starting it failed: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  async #receive(response: IncomingMessage, open: Open): Promise<void> {
    const end = (): unknown => response.destroy();
    open.abort.signal.addEventListener('abort', end, { once: true });
    const type = (response.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
    if (type === 'text/event-stream') await this.#stream(response, open);
    else await this.#whole(response, open);
  }

  async #whole(response: IncomingMessage, { message }: Open): Promise<void> {
    const text = (await buffer(response)).toString('utf8');
    const { id, method } = message;
    const status = response.statusCode ?? 0;
    const line = answerLine(text, id);
    if (line !== null) {
      if (method !== 'initialize') return this.#writer.write(line);
      this.#negotiate(text, response);
      return this.#writer.write(withSubscriptions(line));
    }
    if (id === null) {
      if (status >= 400)
        this.#options.note(restErrorText(text) ?? `The daemon answered ${status}.`);
      return;
    }
    const said = restErrorText(text) ?? `The daemon answered ${status} without a message.`;
    await this.#writer.write(errorLine(id, SERVER_ERROR, said));
  }

  async #stream(response: IncomingMessage, { message }: Open): Promise<void> {
    const { id, method } = message;
    let answered = id === null;
    for await (const text of readEvents(response)) {
      // Events without data open some streams; they carry no message.
      if (text.trim() === '') continue;
      if (id !== null && isAnswerTo(text, id)) {
        answered = true;
        if (method === 'initialize') this.#negotiate(text, response);
      }
      await this.#writer.write(text);
    }
    if (!answered) throw new Error('The daemon ended the stream before it answered.');
  }

  #negotiate(text: string, { headers }: IncomingMessage): void {
    const version = negotiatedVersion(text);
    const session = headers['mcp-session-id'];
    if (version === null) return;
    this.#negotiated = { version, session: typeof session === 'string' ? session : null };
  }
}
