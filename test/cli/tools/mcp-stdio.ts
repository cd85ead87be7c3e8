import { request, type IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect } from 'vitest';
import { operationCalls, type CallOptions, type Client } from '../../../cli/call/client.ts';
import { unreachable } from '../../../cli/errors.ts';
import { McpBridge } from '../../../cli/mcp/bridge.ts';

export interface Rpc {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly uri?: string };
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: object };
}

class KeyClient implements Client {
  readonly call = operationCalls(this);
  readonly apiKey = '';
  readonly gateway = null;
  readonly #base: string;
  readonly #key: string;
  /** Streams of changes that are open. */
  streams = 0;
  opened = 0;

  constructor(base: string, key: string) {
    this.#base = base;
    this.#key = key;
  }

  send(): Promise<never> {
    return Promise.reject(new Error('not used'));
  }

  async raw(method: string, path: string, { bytes, headers, signal }: CallOptions = {}) {
    const response = await this.#send(method, path, { bytes, headers, signal } as CallOptions);
    if (response.headers['content-type'] === 'text/event-stream') {
      this.streams += 1;
      this.opened += 1;
      response.once('close', () => (this.streams -= 1));
    }
    return response;
  }

  #send(method: string, path: string, { bytes, headers, signal }: CallOptions) {
    return new Promise<IncomingMessage>((resolve, reject) => {
      const authorized = { ...headers, authorization: `Bearer ${this.#key}` };
      const options = { method, headers: authorized, ...(signal && { signal }) };
      const sent = request(this.#base + path, options, resolve);
      sent.on('error', (error) => reject(signal?.aborted ? error : unreachable('Nobody listens.')));
      sent.end(bytes);
    });
  }
}

/** The bridge between standard input and output and an endpoint, within this process. */
export function startBridge(url: string, key: string) {
  const client = new KeyClient(url, key);
  const input = new PassThrough();
  const output = new PassThrough();
  const heard: Rpc[] = [];
  const notes: string[] = [];
  let rest = '';
  output.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString('utf8')).split('\n');
    rest = lines.pop() ?? '';
    heard.push(...lines.map((line) => JSON.parse(line) as Rpc));
  });
  const done = new McpBridge({
    client,
    path: '/mcp',
    input,
    output,
    ensureDaemon: () => Promise.resolve(),
    signal: new AbortController().signal,
    note: (note) => void notes.push(note),
  }).run();
  let id = 0;
  const send = (message: object): unknown =>
    input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = async (method: string, params: object = {}): Promise<Rpc> => {
    const own = (id += 1);
    send({ id: own, method, params });
    await expect.poll(() => heard.some((one) => one.id === own), { timeout: 60_000 }).toBe(true);
    return heard.find((one) => one.id === own) ?? {};
  };
  /** What was told, in short. */
  const told = (): string[] =>
    heard
      .filter((one) => one.method !== undefined)
      .map(({ method = '', params }) =>
        [method.replace('notifications/resources/', ''), params?.uri].filter(Boolean).join(' '),
      );
  return { client, input, output, done, notes, heard, send, ask, told };
}
