import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { expect } from 'vitest';
import * as z from 'zod';
import { emptyApp } from '../../../../shared/api/api.ts';
import { unroutable } from '../../../../shared/api/http.ts';
import { restRoutes } from '../../../../shared/api/rest/routes.ts';
import type { Caller } from '../../../../shared/kernel/context.ts';
import { ServiceError, unavailable } from '../../../../shared/lib/errors.ts';
import type { Answer, Credentials, Executor } from '../../../../shared/kernel/executor.ts';
import {
  defineOperation,
  parseInput,
  type Operation,
} from '../../../../shared/kernel/operation.ts';

const common = {
  summary: 'Test.',
  description: 'A test.',
  scope: 'any',
  output: z.unknown(),
  errors: [],
  replica: 'upstream',
  mcp: false,
  cli: { usage: 'test', examples: [] },
} as const;

const keyed = z.strictObject({ key: z.string() });

/** Operations answer with the input that arrived, under their name. */
export const fixtureOperations: readonly Operation[] = [
  defineOperation({
    ...common,
    name: 'test_get',
    input: keyed.extend({
      limit: z.int().min(1).max(9).optional(),
      flag: z.boolean().optional(),
      tags: z.array(z.enum(['a', 'b'])).optional(),
    }),
    effect: 'read',
    rest: { method: 'GET', path: '/v1/values/{key+}' },
    example: { key: 'a' },
  }).read(async () => null),
  defineOperation({
    ...common,
    name: 'test_put',
    input: keyed.extend({ value: z.json().optional() }),
    effect: 'write',
    rest: { method: 'PUT', path: '/v1/values/{key+}', bodyMaxBytes: 1024 * 1024 },
    example: { key: 'a', value: 1 },
  }).write({ commit: async () => null }),
  defineOperation({
    ...common,
    name: 'test_post',
    input: z.strictObject({
      item_id: z.string().max(5),
      name: z.string().optional(),
      count: z.int().optional(),
    }),
    effect: 'write',
    rest: { method: 'POST', path: '/v1/items/{id}/make', params: { id: 'item_id' }, status: 201 },
    example: { item_id: 'a' },
  }).write({ commit: async () => null }),
  defineOperation({
    ...common,
    name: 'test_fail',
    input: z.strictObject({ how: z.enum(['break', 'busy']) }),
    effect: 'read',
    rest: { method: 'GET', path: '/v1/fail' },
    example: { how: 'break' },
  }).read(async () => null),
  defineOperation({
    ...common,
    name: 'test_ask',
    input: z.strictObject({ action: z.string(), options: z.array(z.string()).optional() }),
    errors: ['DETAILS_REQUIRED'],
    effect: 'write',
    rest: { method: 'POST', path: '/v1/asks' },
    example: { action: 'deploy' },
  }).write({ commit: async () => null }),
  defineOperation({
    ...common,
    name: 'test_question',
    input: z.strictObject({ question: z.string(), options: z.array(z.string()).optional() }),
    errors: ['CHANNEL_NOT_VERIFIED'],
    effect: 'write',
    rest: { method: 'POST', path: '/v1/asks', when: 'question' },
    example: { question: 'Where?' },
  }).write({ commit: async () => null }),
];

/** What an operation answers to an input that passed its schema. */
type AnswerOf = (operation: Operation, input: Record<string, unknown>) => unknown;

/** Takes the key `good`, says what arrived, and notes in which order it was asked. */
class EchoExecutor implements Executor {
  readonly asked: string[] = [];
  readonly #answerOf: AnswerOf;

  constructor(answerOf: AnswerOf) {
    this.#answerOf = answerOf;
  }

  async authenticate({ authorization, requestId }: Credentials): Promise<Caller> {
    this.asked.push('authenticate');
    if (authorization !== 'Bearer good') throw new ServiceError('UNAUTHENTICATED');
    return {
      projectId: 'prj_0123456789abcdef',
      keyId: 'key_01j9z3k4m5n6p7q8r9s0t1v2w3',
      scopes: [],
      diskPrefixes: null,
      agent: { label: null, platform: 'unknown', source: 'none' },
      requestId,
      idempotencyKey: null,
    };
  }

  meter(): Readonly<Record<string, string>> {
    this.asked.push('meter');
    return { RateLimit: '"key";r=9;t=0' };
  }

  async follow(): Promise<() => void> {
    throw new Error('not used');
  }

  async execute(operation: Operation, input: unknown): Promise<Answer> {
    this.asked.push('execute');
    const checked = parseInput(operation, input) as Record<string, unknown>;
    if (checked['how'] === 'busy') throw unavailable(3, new Error('secret queue'));
    if (checked['how'] === 'break') throw new TypeError('secret detail');
    return { value: this.#answerOf(operation, checked) };
  }
}

function echo(operation: Operation, input: Record<string, unknown>): unknown {
  return { [operation.name]: input };
}

export interface RestFixture {
  readonly url: string;
  readonly asked: string[];
  /** What was kept for the log. */
  readonly internal: unknown[];
  /** Sends these bytes on a connection of its own and returns what comes back until it ends or falls silent. */
  readonly raw: (...parts: readonly (string | Uint8Array)[]) => Promise<RawAnswer>;
  readonly close: () => Promise<void>;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** The binding over real HTTP. */
export async function serveRest(
  operations: readonly Operation[] = fixtureOperations,
  answerOf: AnswerOf = echo,
): Promise<RestFixture> {
  const executor = new EchoExecutor(answerOf);
  const internal: unknown[] = [];
  const onInternal = (error: unknown): unknown => internal.push(error);
  const app = emptyApp(onInternal);
  app.route('/', restRoutes(executor, operations, onInternal));
  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    errorHandler: unroutable,
  });
  const server = createServer((request, response) => void listener(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked: executor.asked,
    internal,
    raw: (...parts) => sendRaw(port, parts),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** One answer with a Content-Length, as it came over the wire. */
async function sendRaw(port: number, parts: readonly (string | Uint8Array)[]): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  // Whoever refuses a body may close before all of it is sent.
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  for (const part of parts) socket.write(part);
  let bytes = Buffer.alloc(0);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    bytes = Buffer.concat([bytes, chunk]);
    if (split(bytes).isWhole) break;
  }
  socket.destroy();
  const { head, body } = split(bytes);
  const [first = '', ...lines] = head.split('\r\n');
  const text = body.toString('utf8');
  return {
    status: Number(first.split(' ')[1]),
    headers: new Headers(lines.map((line) => line.split(/: (.*)/s, 2) as [string, string])),
    body: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {},
  };
}

/** The first answer in these bytes; that of another request may follow. */
function split(bytes: Buffer): { head: string; body: Buffer; isWhole: boolean } {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return { head: bytes.toString('latin1'), body: Buffer.alloc(0), isWhole: false };
  const head = bytes.toString('latin1', 0, end);
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
  const body = bytes.subarray(end + 4, end + 4 + length);
  return { head, body, isWhole: body.length === length };
}

/** What requests of a valid key carry on the wire. */
export const HEAD = 'Host: localhost\r\nAuthorization: Bearer good\r\n';

/** The body of a refusal that names one field. */
export function problem(path: string, message: unknown = expect.any(String)) {
  return {
    error: {
      code: 'VALIDATION_FAILED',
      message: 'The request is invalid.',
      hint: 'Fix the listed fields.',
      details: { fields: [{ path, message }] },
    },
  };
}

/** The two ways the suites call: raw lines, and as an ordinary client. */
export function callsTo(rest: () => RestFixture) {
  /** A request line as it is, which no client would send. */
  function line(method: string, target: string, head = HEAD): Promise<RawAnswer> {
    return rest().raw(`${method} ${target} HTTP/1.1\r\n${head}\r\n`);
  }

  async function call(
    method: string,
    path: string,
    body?: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ) {
    const response = await fetch(rest().url + path, {
      method,
      headers: {
        authorization: 'Bearer good',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body }),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    return { status: response.status, headers: response.headers, body: answer };
  }

  return { line, call };
}
