import {
  request,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { operationCalls, type CallOptions, type Client } from '../../../cli/call/client.ts';
import { unreachable } from '../../../cli/errors.ts';
import { McpBridge } from '../../../cli/mcp/bridge.ts';
import { listenHttp } from './fakes.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface Rpc {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

function asRpc(line: string): Rpc {
  const message: Rpc = JSON.parse(line);
  return message;
}

/** A server whose handler gets the message that came. */
function serving(handle: (message: Rpc, response: ServerResponse, headers: object) => void) {
  return (incoming: IncomingMessage, response: ServerResponse): void => {
    void text(incoming).then((body) => handle(asRpc(body), response, incoming.headers));
  };
}

function answerJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body, null, 2));
}

class RawClient implements Client {
  readonly call = operationCalls(this);
  readonly apiKey = '';
  readonly gateway = null;
  readonly #base: () => string;
  constructor(base: () => string) {
    this.#base = base;
  }
  send(): Promise<never> {
    return Promise.reject(new Error('not used'));
  }
  raw(method: string, path: string, { bytes, headers, signal }: CallOptions = {}) {
    return new Promise<IncomingMessage>((resolve, reject) => {
      const options = { method, headers: headers ?? {}, ...(signal && { signal }) };
      const sent = request(this.#base() + path, options, resolve);
      sent.on('error', (error) => reject(signal?.aborted ? error : unreachable('Nobody listens.')));
      sent.end(bytes);
    });
  }
}

async function bridge(
  handle: RequestListener | null,
  ensureDaemon = () => Promise.resolve(),
  ending: { readonly signal?: AbortSignal; readonly endingMs?: number } = {},
) {
  const server = handle ? await listenHttp(handle) : null;
  if (server) closers.push(server.close);
  const state = { base: server?.url ?? 'http://127.0.0.1:1', starts: 0 };
  const input = new PassThrough();
  const output = new PassThrough();
  const lines: string[] = [];
  const notes: string[] = [];
  let rest = '';
  output.on('data', (chunk: Buffer) => {
    rest += chunk.toString('utf8');
    const whole = rest.split('\n');
    rest = whole.pop() ?? '';
    lines.push(...whole);
  });
  const done = new McpBridge({
    client: new RawClient(() => state.base),
    path: '/mcp',
    input,
    output,
    ensureDaemon: async () => {
      state.starts += 1;
      await ensureDaemon();
    },
    signal: new AbortController().signal,
    ...ending,
    note: (note) => void notes.push(note),
  }).run();
  const send = (message: unknown) => input.write(`${JSON.stringify(message)}\n`);
  const answers = (): Rpc[] => lines.map(asRpc);
  return { state, input, output, lines, notes, done, send, answers };
}

function rpc(id: number, method: string, params: object = {}) {
  return { jsonrpc: '2.0', id, method, params };
}

/** Answers each request with what it carried. */
const echo = serving(({ id, params }, response, headers) => {
  if (id === undefined) {
    response.writeHead(202).end();
    return;
  }
  const result = { params, headers, protocolVersion: '2025-11-25' };
  response.setHeader('mcp-session-id', 'session-1');
  answerJson(response, 200, { jsonrpc: '2.0', id, result });
});

/** Never answers. */
const silent = (incoming: IncomingMessage): void => void incoming.resume();

describe('the MCP bridge', () => {
  it('writes each answer as one line, whatever its form', async () => {
    const { input, done, send, answers, lines } = await bridge(echo);
    send(rpc(1, 'tools/list', { text: 'a\nb\u2028c' }));
    send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    input.end();
    await done;
    expect(lines).toHaveLength(1);
    expect(answers()[0]).toMatchObject({ id: 1, result: { params: { text: 'a\nb\u2028c' } } });
  });

  it('passes on the version and the session that were settled', async () => {
    const { input, done, send, answers } = await bridge(echo);
    send(rpc(1, 'initialize', { clientInfo: { name: 'claude code', version: '2.1' } }));
    await expect.poll(() => answers().length).toBe(1);
    send(rpc(2, 'tools/list'));
    input.end();
    await done;
    const [first, second] = answers();
    expect(first?.result?.['headers']).not.toHaveProperty('mcp-protocol-version');
    expect(first?.result?.['headers']).not.toHaveProperty('mcp-session-id');
    expect(second?.result?.['headers']).toMatchObject({
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2025-11-25',
      'mcp-session-id': 'session-1',
    });
  });

  it('repeats in headers what a self-contained request says', async () => {
    const { input, done, send, answers } = await bridge(echo);
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    send(rpc(1, 'tools/call', { name: 'inbox_list', _meta: meta }));
    send(rpc(2, 'tools/call', { name: 'größe', _meta: meta }));
    input.end();
    await done;
    const headers = answers()
      .toSorted((one, other) => (one.id ?? 0) - (other.id ?? 0))
      .map(({ result }) => result?.['headers']);
    expect(headers[0]).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'inbox_list',
    });
    expect(headers[1]).toMatchObject({
      'mcp-name': `=?base64?${Buffer.from('größe').toString('base64')}?=`,
    });
  });

  it('takes messages of a megabyte, in pieces, several in one piece', async () => {
    const { input, done, answers } = await bridge(echo);
    const long = 'é'.repeat(500_000);
    const bytes = Buffer.from(
      `${JSON.stringify(rpc(1, 'tools/call', { text: long }))}\r\n\n${JSON.stringify(rpc(2, 'ping'))}`,
    );
    for (let at = 0; at < bytes.length; at += 65_537) input.write(bytes.subarray(at, at + 65_537));
    input.end();
    await done;
    const byId = new Map(answers().map((answer) => [answer.id, answer.result?.['params']]));
    expect(byId.get(1)).toEqual({ text: long });
    expect(byId.get(2)).toEqual({});
  });

  it('streams the events of one answer while others come and go', async () => {
    const streams: ServerResponse[] = [];
    const { input, done, send, answers } = await bridge(
      serving(({ id }, response) => {
        if (id !== 1) {
          answerJson(response, 200, { jsonrpc: '2.0', id, result: {} });
          return;
        }
        response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
        response.write(': waiting\n\nid: 7\ndata:\n\n');
        streams.push(response);
      }),
    );
    send(rpc(1, 'tools/call'));
    send(rpc(2, 'ping'));
    await expect.poll(() => answers().map(({ id }) => id)).toEqual([2]);
    streams[0]?.write(
      'event: message\r\ndata: {"jsonrpc":"2.0",\r\ndata: "method":"notifications/progress"}\r',
    );
    streams[0]?.write('\n\r\n');
    await expect.poll(() => answers().length).toBe(2);
    expect(answers()[1]).toMatchObject({ method: 'notifications/progress' });
    streams[0]?.write('data: {"jsonrpc":"2.0","id":1,"result":{"done":true}}\n\n');
    streams[0]?.end();
    input.end();
    await done;
    expect(answers()[2]).toEqual({ jsonrpc: '2.0', id: 1, result: { done: true } });
  });

  it('tells of a stream that ended too early', async () => {
    const { input, done, send, answers } = await bridge((_incoming, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': hm\n\n');
    });
    send(rpc(5, 'tools/call'));
    input.end();
    await done;
    expect(answers()).toMatchObject([{ id: 5, error: { code: -32000 } }]);
  });

  it('drops a request that the client takes back, without an answer', async () => {
    let [came, gone] = [false, false];
    const { input, done, send, answers } = await bridge((incoming, response) => {
      came = true;
      response.on('close', () => (gone = true));
      incoming.resume();
    });
    send(rpc(1, 'tools/call'));
    await expect.poll(() => came).toBe(true);
    send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    await expect.poll(() => gone).toBe(true);
    input.end();
    await done;
    expect(answers()).toEqual([]);
  });

  it('answers all that came before the input ended, however long it takes', async () => {
    const held = new Map<unknown, ServerResponse>();
    const { input, done, send, answers } = await bridge(
      serving(({ id }, response) => void held.set(id, response)),
    );
    send(rpc(1, 'tools/call'));
    send(rpc(2, 'tools/call'));
    input.end();
    await expect.poll(() => held.size).toBe(2);
    const [one, two] = [held.get(1), held.get(2)];
    one?.writeHead(200, { 'content-type': 'text/event-stream' }).write(': waiting\n\n');
    if (two) answerJson(two, 200, { jsonrpc: '2.0', id: 2, result: {} });
    await expect.poll(() => answers().length).toBe(1);
    one?.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: { late: true } })}\n\n`);
    await done;
    expect(answers()).toMatchObject([{ id: 2 }, { id: 1, result: { late: true } }]);
  });

  it('drops what is open when its time is over after the input ended', async () => {
    let [came, gone] = [false, false];
    const never = (incoming: IncomingMessage, response: ServerResponse): void => {
      came = true;
      response.on('close', () => (gone = true));
      incoming.resume();
    };
    const { input, done, send, answers } = await bridge(never, undefined, { endingMs: 150 });
    send(rpc(1, 'tools/call'));
    await expect.poll(() => came).toBe(true);
    input.end();
    await done;
    expect(answers()).toEqual([]);
    await expect.poll(() => gone).toBe(true);
  });

  it('ends at once when it is told to, also after the input ended', async () => {
    const stop = new AbortController();
    const { input, done, send, answers } = await bridge(silent, undefined, { signal: stop.signal });
    send(rpc(1, 'tools/call'));
    input.end();
    // It would wait for minutes.
    stop.abort();
    await done;
    expect(answers()).toEqual([]);
  });

  it('gives error answers the id of their request, and REST errors the form of JSON-RPC', async () => {
    const { input, done, send, answers, notes } = await bridge(
      serving(({ method }, response) => {
        const refused = { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'No.' } };
        const rest = { error: { code: 'UNAUTHENTICATED', message: 'Bad key.', hint: 'Sign in.' } };
        answerJson(response, 401, method === 'one' ? refused : rest);
      }),
    );
    send(rpc(1, 'one'));
    send(rpc(2, 'two'));
    send({ jsonrpc: '2.0', method: 'three' });
    input.end();
    await done;
    const byId = new Map(answers().map((answer) => [answer.id, answer.error]));
    expect(byId.get(1)).toEqual({ code: -32600, message: 'No.' });
    expect(byId.get(2)).toEqual({ code: -32000, message: 'UNAUTHENTICATED: Bad key. Sign in.' });
    expect(notes).toEqual(['UNAUTHENTICATED: Bad key. Sign in.']);
  });

  it('refuses a line that is no JSON and goes on', async () => {
    const { input, done, send, answers } = await bridge(echo);
    input.write('{"jsonrpc"\n');
    send(rpc(1, 'ping'));
    input.end();
    await done;
    expect(answers()[0]).toMatchObject({ id: null, error: { code: -32700 } });
    expect(answers()[1]).toMatchObject({ id: 1 });
  });

  it('starts the daemon once and repeats what found it gone, under the same key', async () => {
    const keys: unknown[] = [];
    const server = await listenHttp((incoming, response) => {
      keys.push(incoming.headers['idempotency-key']);
      echo(incoming, response);
    });
    closers.push(server.close);
    const running = await bridge(null, () => delay(30).then(() => undefined));
    running.send(rpc(1, 'tools/call'));
    running.send(rpc(2, 'tools/call'));
    await expect.poll(() => running.state.starts).toBe(1);
    running.state.base = server.url;
    await expect.poll(() => running.answers().length).toBe(2);
    running.input.end();
    await running.done;
    expect(running.state.starts).toBe(1);
    expect(new Set(keys).size).toBe(2);
  });

  it('says so when the daemon cannot be started', async () => {
    const { input, done, send, answers } = await bridge(null, () =>
      Promise.reject(new Error('the lock is held.')),
    );
    send(rpc(1, 'tools/list'));
    await expect.poll(() => answers().length).toBe(1);
    input.end();
    await done;
    expect(answers()[0]).toMatchObject({
      id: 1,
      error: {
        code: -32000,
        message: 'Nobody listens. Starting it failed: the lock is held.',
      },
    });
  });
});
