import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERROR_CODES, type ErrorCode } from '../../shared/lib/errors.ts';
import type { Tool } from '../../shared/api/mcp/tools.ts';
import { isObject, parseObject } from '../../shared/lib/guards.ts';
import { META } from '../shared/api/mcp/wire.ts';
import { corpus } from './corpus.ts';
import { fromSchema, type Known, type Schema } from './from-schema.ts';
import { FuzzedGateway, type Got } from './fuzzed-gateway.ts';
import {
  extraField,
  hostileBody,
  hostileText,
  hostileValue,
  mutated,
  ownObject,
} from './hostile.ts';
import { filledProject } from './project.ts';
import { asJson } from './requests.ts';
import { each, fuzz, unmet, HUNG_MS } from './runs.ts';
import { rpcFaults, sentId } from './rpc.ts';

let gateway: FuzzedGateway;
let known: Known;
let tools: readonly Tool[];
const ajv = new Ajv2020({ strict: false, validateFormats: false });
beforeAll(async () => {
  gateway = await FuzzedGateway.start();
  known = await filledProject(gateway);
  const listed = await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  tools = (listed.json as { result: { tools: Tool[] } }).result.tools;
});
afterAll(() => gateway.stop());

function post(
  message: unknown,
  headers: Readonly<Record<string, string>> = {},
  { key, target = '/mcp' }: { readonly key?: string | null; readonly target?: string } = {},
): Promise<Got> {
  return gateway.send({
    method: 'POST',
    target,
    headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
    body: Buffer.isBuffer(message) ? message : asJson(message),
    ...(key !== undefined && { key }),
  });
}

const STATUSES = [200, 202, 400, 404, 413, 415];

/** The faults of an answer, whatever was sent. */
function faultsOf(sent: unknown, got: Got): string[] {
  const { status, json, bytes } = got;
  const faults = unmet({
    'its status is one of those': STATUSES.includes(status),
    'a notification is not answered': status !== 202 || bytes.length === 0,
    'no line of code is shown': !/\n {4}at |node_modules|\.ts:\d/.test(bytes.toString()),
    ...(status === 202 ? {} : rpcFaults(json, sentId(sent))),
    'what is malformed is refused': !isMalformed(sent) || (isObject(json) && 'error' in json),
  });
  return faults.map((fault) => `${fault}: ${status} ${bytes.toString().slice(0, 500)}`);
}

/** Whether a message has invalid parameters; for unreadable ones, only the answer tells. */
function isMalformed(sent: unknown): boolean {
  const message = Buffer.isBuffer(sent) ? parseObject(sent.toString('utf8')) : sent;
  const params = isObject(message) ? (message['params'] ?? {}) : {};
  return !isObject(params) || Array.isArray(message);
}

/** Waits are as short as they may be. */
const SHORT = { wait_seconds: 0, timeout_seconds: 1 };

function argumentsOf(tool: Tool): fc.Arbitrary<Record<string, unknown>> {
  const schema = tool.inputSchema as Schema;
  const names = Object.keys(schema.properties ?? {});
  const short = Object.fromEntries(Object.entries(SHORT).filter(([name]) => names.includes(name)));
  const anyValue = tool.name === 'kv_set' ? { ...known, value: [] } : known;
  return fromSchema(schema, anyValue).map((made) => ({ ...(made as object), ...short }));
}

function hostileArguments(tool: Tool): fc.Arbitrary<unknown> {
  const valid = argumentsOf(tool);
  return fc.oneof(
    { weight: 1, arbitrary: hostileValue },
    {
      weight: 4,
      arbitrary: fc.tuple(valid, hostileValue, fc.nat(20)).map(([input, value, index]) => {
        const names = Object.keys(input);
        return { ...input, [names[index % Math.max(1, names.length)] ?? 'x']: value };
      }),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(valid, extraField)
        .map(([input, extra]) => ownObject([...Object.entries(input), extra])),
    },
  );
}

function call(name: string, input: unknown, id: unknown = 1): object {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: input } };
}

interface Result {
  readonly isError: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent?: unknown;
}

function resultOf(got: Got): Result | null {
  const result = isObject(got.json) ? got.json['result'] : null;
  return isObject(result) ? (result as unknown as Result) : null;
}

/** The faults of a tool's answer. */
function toolFaults(tool: Tool, got: Got): string[] {
  const result = resultOf(got);
  if (result === null) return [];
  const text = result.content[0]?.text ?? '';
  const code = /^([A-Z_]+): /.exec(text)?.[1] ?? '';
  const { outputSchema } = tool;
  return result.isError
    ? unmet({
        [`it has a code that is known: ${text.slice(0, 300)}`]:
          ERROR_CODES.includes(code as ErrorCode) && code !== 'INTERNAL' && code !== 'UNAVAILABLE',
      })
    : unmet({
        [`it answers as its schema says: ${text.slice(0, 300)}`]:
          outputSchema === undefined || ajv.validate(outputSchema, result.structuredContent),
      });
}

describe('a tool', () => {
  it(
    'answers what its schemas say, for any of its inputs',
    async () => {
      for (const tool of tools) {
        const fault = await fuzz(argumentsOf(tool), 6, async (input) => {
          const message = call(tool.name, input);
          const got = await post(message);
          return [...faultsOf(message, got), ...toolFaults(tool, got)];
        });
        expect(fault && `${tool.name}: ${fault}`).toBeNull();
      }
    },
    HUNG_MS,
  );

  it(
    'refuses in words what is none of its inputs, and changes nothing',
    async () => {
      for (const tool of tools) {
        const fault = await fuzz(hostileArguments(tool), 12, async (input) => {
          const message = call(tool.name, input);
          const before = await gateway.head();
          let faults: string[] = [];
          const held = await gateway.unheld(async () => {
            const got = await post(message);
            faults = [...faultsOf(message, got), ...toolFaults(tool, got)];
            const text = resultOf(got)?.content[0]?.text ?? '';
            const isRefused = text.startsWith('VALIDATION_FAILED');
            if (isRefused && (await countOf(tool.name, before)) > 0) faults.push('it left a trace');
          });
          return [...faults, ...held];
        });
        expect(fault && `${tool.name}: ${fault}`).toBeNull();
      }
    },
    HUNG_MS,
  );
});

/** How many entries of the ledger name it, after this one. */
async function countOf(op: string, after: number): Promise<number> {
  const target = `/v1/ledger?limit=100&op=${op}`;
  const { items } = await gateway.call<{ items: { seq: number }[] }>('GET', target);
  return items.filter(({ seq }) => seq > after).length;
}

/** The entries that calls have made after this one; a lease or a request of before may end at any time, and make another. */
async function calledAfter(after: number): Promise<object[]> {
  interface Entry {
    readonly seq: number;
    readonly request_id: string | null;
  }
  const { items } = await gateway.call<{ items: Entry[] }>('GET', '/v1/ledger?limit=100');
  return items.filter(({ seq, request_id }) => seq > after && request_id !== null);
}

const method = fc.oneof(
  fc.constantFrom(
    'tools/call',
    'tools/list',
    'initialize',
    'ping',
    'server/discover',
    'notifications/initialized',
    'notifications/cancelled',
    'prompts/get',
    'resources/read',
    '__proto__',
    'rpc.discover',
  ),
  hostileValue,
);
const parameters = fc.oneof(
  hostileValue,
  fc.record(
    {
      name: hostileValue,
      arguments: hostileValue,
      _meta: fc.oneof(hostileValue, fc.constant(META)),
    },
    { requiredKeys: [] },
  ),
  fc.record({
    protocolVersion: hostileValue,
    clientInfo: hostileValue,
    capabilities: hostileValue,
  }),
);
const members = {
  jsonrpc: fc.oneof({ weight: 8, arbitrary: fc.constant('2.0') }, hostileValue),
  id: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(1, 'a', 0, -1, 1.5, 2 ** 60) },
    { weight: 1, arbitrary: hostileValue },
  ),
  method,
  params: parameters,
};
const message = fc.oneof(
  { weight: 4, arbitrary: fc.record(members) },
  { weight: 1, arbitrary: fc.record(members, { requiredKeys: [] }) },
);
const headers = fc.constantFrom<Record<string, string>>(
  {},
  { 'mcp-protocol-version': '2026-07-28' },
  { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
  { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': '=?base64?%%?=' },
  { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': '=?base64?' },
  { 'mcp-protocol-version': '2025-06-18' },
  { 'mcp-protocol-version': '1999-01-01' },
  { 'mcp-protocol-version': '__proto__' },
  { 'mcp-protocol-version': '\u00ff' },
  { 'mcp-session-id': '../x', 'last-event-id': 'x' },
  { accept: 'text/html' },
  { accept: '' },
  { 'content-type': 'text/plain' },
  { 'content-encoding': 'gzip' },
  { 'idempotency-key': 'x'.repeat(300) },
);
/** The whole endpoint, and parts of it. */
const target = fc.constantFrom(
  '/mcp',
  '/mcp/readonly',
  '/mcp?tools=inbox,disk',
  '/mcp/readonly?tools=__proto__',
);

describe('the protocol', () => {
  it('refuses what is in the corpus in words', async () => {
    const faults = await each(corpus('mcp'), async ({ bytes }) =>
      faultsOf(bytes, await post(bytes)),
    );
    expect(faults).toEqual([]);
  });

  it(
    'answers any message',
    async () => {
      const messages = fc.oneof(message, fc.array(message, { maxLength: 3 }));
      const fault = await fuzz(
        fc.tuple(messages, headers, target),
        250,
        async ([one, more, to]) => {
          let faults: string[] = [];
          const held = await gateway.unheld(async () => {
            faults = faultsOf(one, await post(one, more, { target: to }));
          });
          return [...faults, ...held];
        },
      );
      expect(fault).toBeNull();
    },
    HUNG_MS,
  );

  it(
    'answers any bytes',
    async () => {
      const tokens = [
        '{',
        '}',
        '[',
        ']',
        '"',
        ',',
        ':',
        '\\u0000',
        '\\ud800',
        '\xff',
        '\n',
        'null',
      ];
      const changed = fc
        .constantFrom(...corpus('mcp').map(({ bytes }) => bytes))
        .chain((bytes) => mutated(bytes, tokens));
      const fault = await fuzz(fc.oneof(changed, hostileBody), 150, async (bytes) =>
        faultsOf(bytes, await post(bytes)),
      );
      expect(fault).toBeNull();
    },
    HUNG_MS,
  );

  it(
    'asks for a key before it reads anything',
    async () => {
      const sent = fc.tuple(fc.oneof(message, hostileBody), fc.option(hostileText));
      const before = await gateway.head();
      const fault = await fuzz(sent, 60, async ([one, text]) => {
        const key = text?.replace(/[^\u0021-\u007e]/g, '').slice(0, 8000) || null;
        const got = await post(one, {}, { key });
        const { error } = got.json as { error?: { code: number; data: unknown } };
        return unmet({
          'it is refused': got.status === 401 && error?.code === 401,
          'it says which code, and nothing more':
            JSON.stringify(error?.data) === '{"code":"UNAUTHENTICATED"}',
        });
      });
      expect(fault).toBeNull();
      expect(await calledAfter(before)).toEqual([]);
    },
    HUNG_MS,
  );
});
