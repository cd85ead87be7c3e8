import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { operationCalls, type CallOptions, type Client } from '../../../cli/call/client.ts';
import type { CommandContext } from '../../../cli/command.ts';
import { answeredFailure } from '../../../clients/typescript/core/errors.ts';
import { CallError } from '../../../cli/errors.ts';
import { Tries } from '../../../cli/retry/tries.ts';
import { resolveHome } from '../../../daemon/home.ts';
import { isObject } from '../../../shared/lib/guards.ts';
import { errorEntry, type ErrorCode } from '../../../shared/lib/errors.ts';

export function refusal(code: ErrorCode, details?: Record<string, unknown>): CallError {
  const { status, message, hint } = errorEntry(code);
  return new CallError(answeredFailure(status, { error: { code, message, hint, details } }));
}

type Answer = (options: CallOptions) => unknown;

/** A client whose answers are functions by `METHOD path`; it keeps what it was asked. */
export class FakeClient implements Client {
  readonly call = operationCalls(this);
  readonly apiKey = 'svc_live_test';
  readonly gateway = null;
  readonly calls: { route: string; options: CallOptions }[] = [];
  readonly #answers: Record<string, Answer>;

  constructor(answers: Record<string, Answer>) {
    this.#answers = answers;
  }

  async send(method: string, path: string, options: CallOptions = {}): Promise<unknown> {
    const route = `${method} ${path}`;
    this.calls.push({ route, options });
    await Promise.resolve();
    const answer = this.#answers[route];
    if (!answer) throw refusal('NOT_FOUND');
    return answer(options);
  }

  raw(): Promise<never> {
    return Promise.reject(new Error('This fake has no raw answers.'));
  }

  /** The bodies sent to a route. */
  bodies(route: string): Record<string, unknown>[] {
    const sent = this.calls.filter((call) => call.route === route);
    return sent.map(({ options }) => fieldsOf(options.body));
  }
}

/** The fields of an object; none of anything else. */
export function fieldsOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

/** A line of JSON as its fields. */
export function parsedLine(line: string): Record<string, unknown> {
  const value: unknown = JSON.parse(line);
  return fieldsOf(value);
}

interface QueuedEvent {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** An inbox that hands out its events in order; a wait without one lasts until the signal or a few milliseconds. */
export function fakeInbox(events: readonly QueuedEvent[], more: Record<string, Answer> = {}) {
  const pending = [...events];
  return new FakeClient({
    'GET /v1/inbox/wait': async ({ signal, query }) => {
      const [first] = pending;
      if (first) return { event: first };
      const seconds = Number(query?.['timeout_seconds']);
      await new Promise<void>((resolve, reject) => {
        setTimeout(resolve, seconds > 1 ? 5000 : 20).unref();
        signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
      });
      return { event: null };
    },
    'POST /v1/inbox/claim': ({ body }) => {
      const { event_id } = fieldsOf(body);
      const at = pending.findIndex(({ id }) => id === event_id);
      if (at < 0) throw refusal('EVENT_NOT_CLAIMABLE');
      return {
        ...pending.splice(at, 1)[0],
        status: 'claimed',
        lease_id: `lse_${String(event_id)}`,
      };
    },
    'POST /v1/inbox/ack': () => ({ status: 'done' }),
    'POST /v1/inbox/nack': ({ body }) => {
      return fieldsOf(body)['retry'] === true
        ? { status: 'failed', attempts: 1, retry_at: '2026-01-01T00:00:30.000Z' }
        : { status: 'dead', attempts: 1, retry_at: null };
    },
    'POST /v1/inbox/extend': () => ({}),
    ...more,
  });
}

export function event(id: string, fields: Record<string, unknown> = {}): QueuedEvent {
  return {
    id,
    type: 'push',
    source: 'github',
    received_at: '2026-01-01T00:00:00.000Z',
    verified: true,
    payload: { a: 1 },
    payload_url: null,
    ...fields,
  };
}

export interface Printed {
  readonly lines: string[];
  readonly notes: string[];
  readonly answers: unknown[];
}

/** What a command gets, with its output kept. */
export function fakeContext(given: {
  readonly client?: Client;
  readonly args?: CommandContext['args'];
  readonly options?: CommandContext['options'];
  readonly env?: NodeJS.ProcessEnv;
  readonly json?: boolean;
  readonly signal?: AbortSignal;
  readonly onLine?: (line: string) => void;
}): { context: CommandContext; printed: Printed } {
  const printed: Printed = { lines: [], notes: [], answers: [] };
  const signal = given.signal ?? new AbortController().signal;
  const context: CommandContext = {
    tries: new Tries({
      key: undefined,
      retryMs: 0,
      output: { spin: (_text, work) => work, tell: (text) => void printed.notes.push(text) },
      signal,
      hasGateway: () => false,
    }),
    undoIfLost: () => undefined,
    args: given.args ?? {},
    options: given.options ?? {},
    env: given.env ?? process.env,
    home: resolveHome({ SVC_HOME: '/tmp/svc-test' }),
    signal,
    client: () => given.client ?? new FakeClient({}),
    output: {
      json: given.json ?? true,
      terminal: false,
      isPrinted: () => Promise.resolve(true),
      answer: (value) => void printed.answers.push(value),
      advise: (text) => void printed.lines.push(text),
      line: (text) => {
        printed.lines.push(text);
        given.onLine?.(text);
      },
      lines: () => undefined,
      pages: () => ({ page: () => undefined, end: () => undefined }),
      bytes: (chunk) => void printed.lines.push(Buffer.from(chunk).toString('utf8')),
      note: (text) => void printed.notes.push(text),
      tell: (text) => void printed.notes.push(text),
      spin: (_text, work) => work,
      redraw: () => undefined,
    },
  };
  return { context, printed };
}

export interface Received {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** A real server on a free port, closed by `close`. */
export async function listenHttp(
  handle: RequestListener,
): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer(handle);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A receiver that keeps what it gets and answers by `answer`. */
export async function receiver(
  answer: (received: Received) => { status: number; body?: string },
): Promise<{ url: string; received: Received[]; close: () => Promise<void> }> {
  const received: Received[] = [];
  const server = await listenHttp((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url = '', headers, rawHeaders } = request;
      const one = { url, headers, rawHeaders, body: Buffer.concat(chunks) };
      received.push(one);
      const { status, body } = answer(one);
      response.writeHead(status, { 'content-type': 'application/json' }).end(body ?? '{}');
    });
  });
  return { ...server, received };
}
