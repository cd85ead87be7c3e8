import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operationShapes } from '../../cli/shapes/operations.ts';
import { withNames } from '../../shared/api/names.ts';
import { operations } from '../../shared/operations/index.ts';
import type { Operation } from '../../shared/kernel/operation.ts';
import type { Receiver } from '../gateway/callbacks/callback-receiver.ts';
import { prepared } from './preparations.ts';
import { startReceiver } from './receiver.ts';
import { World } from './scenario.ts';
import type { Harness } from './harness.ts';
import { unmarked } from './unmarked.ts';

const AGENT = 'parity-test';

type Json = Record<string, unknown>;

let harness: Harness;
let receiver: Receiver;
let world: World;
let http: Client;
let stdio: Client;

/** The same answers, whichever way a call takes to what answers here. */
export function describeParity(
  start: (agent: string) => Promise<Harness>,
  { isLocal = false } = {},
): void {
  beforeAll(async () => {
    harness = await start(AGENT);
    receiver = await startReceiver();
    world = new World(harness, receiver.url(), harness.letters, harness.pages);
    // Something to list, to wait for and to read.
    await world.event();
    const headers = { authorization: `Bearer ${harness.apiKey}`, 'x-service-agent': AGENT };
    http = await connected(
      new StreamableHTTPClientTransport(new URL(`${harness.url}/mcp`), {
        requestInit: { headers },
      }),
    );
    stdio = await connected(
      new StdioClientTransport({
        command: process.execPath,
        args: [harness.bundle, 'mcp'],
        env: harness.env,
        stderr: 'pipe',
      }),
    );
  });
  afterAll(async () => {
    await Promise.all([http.close(), stdio.close()]);
    await harness.stop();
    await receiver.stop();
  });
  sameAnswers(isLocal ? operations.filter(({ name }) => !SHARING.has(name)) : operations);
  nothingThere();
  noTools();
  sameRefusals();
  stdioServer();
  nowhere();
}

async function connected(transport: unknown): Promise<Client> {
  const client = new Client({ name: 'parity-test', version: '1.0.0' });
  // The classes of the SDK do not say `undefined` where its interface does.
  await client.connect(transport as Transport);
  return client;
}

async function overRest(name: string, input: Json): Promise<Json> {
  return world.get(name, input, { headers: { 'x-service-agent': AGENT } });
}

async function overMcp(client: Client, name: string, input: Json): Promise<Json> {
  const answer = await client.callTool({ name, arguments: input });
  if (answer.isError) throw new Error(JSON.stringify(answer.content));
  return unmarked(answer.structuredContent as Json);
}

/** Where a person is asked and has not decided: scripts see that by 6. */
const UNDECIDED: ReadonlySet<string> = new Set([
  'ask_approval',
  'ask_human',
  'request_status',
  'policy_set',
  'file_url',
  'email_send',
  'email_status',
]);

/** The answer of a command line that has to succeed. */
async function answered(name: string, ...args: readonly string[]): Promise<Json> {
  const { code, out, err } = await harness.svc(...args);
  expect({ code, err }).toEqual({ code: UNDECIDED.has(name) ? 6 : 0, err: '' });
  expect(out.trim().split('\n')).toHaveLength(1);
  return JSON.parse(out) as Json;
}

async function overCli(name: string, input: Json): Promise<Json> {
  const own = OWN_COMMANDS[name];
  if (own) return own(input);
  const answer = await answered(name, ...commandLine(name, input));
  // The command compares with the head it saw last, and says so beside the answer.
  const { witness, steps, ...rest } = answer;
  expect(witness === undefined).toBe(name !== 'ledger_verify');
  // The command tells the story in words as well.
  expect(steps === undefined).toBe(name !== 'story');
  return rest;
}

/** On the command line the bytes of a file stand in a file of this machine. */
const OWN_COMMANDS: Readonly<Record<string, (input: Json) => Promise<Json>>> = {
  file_put: async ({ path, content_base64, content_type }) => {
    const file = harness.placeFor('sent');
    writeFileSync(file, Buffer.from(String(content_base64), 'base64'));
    const named = [file, String(path), '--content-type', String(content_type)];
    return answered('file_put', 'file', 'put', ...named, '--json');
  },
  file_get: async ({ path }) => {
    const place = harness.placeFor('received');
    const got = await answered('file_get', 'file', 'get', String(path), place, '--json');
    const { file, ...rest } = got;
    expect(file).toBe(place);
    return { ...rest, content_base64: readFileSync(place, 'base64') };
  },
};

/** A file as `svc file get` tells it: the rest is for `svc file list`. */
function briefOf({ path, size_bytes, sha256, content_base64 }: Json): Json {
  return { path, size_bytes, sha256, content_base64 };
}

/** The command a person would type for an input. */
function commandLine(name: string, input: Json): string[] {
  const shape = operationShapes.find((one) => one.name === name);
  if (!shape) throw new Error(`There is no command for ${name}.`);
  // The last may be left out.
  const positional = shape.positional.map((one) => one.name).filter((field) => field in input);
  const flags = Object.entries(input)
    .filter(([field]) => !positional.includes(field))
    .flatMap(([field, value]) => [`--${field.replaceAll('_', '-')}`, typed(value)]);
  const words = positional.flatMap((field) => {
    const value = input[field];
    return Array.isArray(value) ? value.map(typed) : [typed(value)];
  });
  return [...shape.words, ...words, ...flags, '--json'];
}

function typed(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A list as agents read it, without the headers of webhooks. */
function untransported(list: unknown): unknown {
  const { items, ...rest } = list as { items: Json[] };
  return { ...rest, items: items.map(({ headers: _headers, ...event }) => event) };
}

const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/\b(evt|key|lse|src|msg|req|rte|dlv|chn|mbr)_[0-9A-Za-z]+/g, '$1_…'],
  [/\bsvc_live_\w+/g, 'svc_live_…'],
  [/\bwhsec_[\w+/]+=*/g, 'whsec_…'],
  [/\/w\/[0-9A-Za-z]+/g, '/w/…'],
  [/\/l\/[\w./…-]+/g, '/l/…'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'then'],
];
/** When a key was last used is written down a little later; the end of a secret is as random as the secret. */
const VOLATILE_FIELDS: ReadonlySet<string> = new Set(
  'last_used_at last4 webhook-id duration_ms body_url url_expires_at'.split(' '),
);
/** Each write has another one, and gets another event; whoever reads it twice reads the same. */
const WRITTEN_FIELDS: ReadonlySet<string> = new Set(['version', 'suspected_replay']);

/** An answer without what differs from call to call, and with the hints of one interface. */
function settled(operation: Operation, answer: Json): unknown {
  const writes = operation.effect === 'write';
  return JSON.parse(JSON.stringify(answer), (field: string, value: unknown) => {
    if (VOLATILE_FIELDS.has(field) || (writes && WRITTEN_FIELDS.has(field))) return '…';
    if (field === 'hint')
      return withNames(operations)(String(value)).replaceAll(/svc (\w+) (\w+)/g, '$1_$2');
    // What only reads answers the same to all, to the last character.
    if (!writes || typeof value !== 'string') return value;
    return VOLATILE.reduce((text, [pattern, mark]) => text.replace(pattern, mark), value);
  });
}

/** What a project on one machine refuses. */
const SHARING = new Set([
  'member_invite',
  'member_role',
  'member_remove',
  'project_rename',
  'project_delete',
]);

function sameAnswers(called: readonly Operation[]): void {
  describe.each(called.map((operation) => [operation.name, operation] as const))(
    'parity of %s',
    (name, operation) => {
      it('lead to the same answer', async () => {
        const rest = settled(operation, await overRest(name, await prepared(operation, world)));
        const cli = settled(operation, await overCli(name, await prepared(operation, world)));
        expect(cli).toEqual(name === 'file_get' ? briefOf(rest as Json) : rest);
        expect(rest).not.toEqual({});
        for (const client of operation.mcp === false ? [] : [http, stdio]) {
          const mcp = await overMcp(client, name, await prepared(operation, world));
          expect(settled(operation, mcp)).toEqual(
            name === 'inbox_list' ? untransported(rest) : rest,
          );
        }
      });
    },
  );
}

function nothingThere(): void {
  describe('parity where nothing is there', () => {
    it.each([
      ['kv_get', { key: 'nobody/wrote/this' }],
      ['state_load', { task_id: 'nobody-saved-this' }],
    ])('%s says so', async (name, input) => {
      expect(await overRest(name, input)).toBeNull();
      const cli = await harness.svc(...commandLine(name, input));
      expect(cli).toEqual({ code: 3, out: 'null\n', err: '' });
      for (const client of [http, stdio]) {
        // A copy says beside its answer how old it is.
        const { _meta, ...answer } = await client.callTool({ name, arguments: input });
        expect(answer).toEqual({ content: [{ type: 'text', text: 'null' }], isError: false });
        expect(Object.keys(_meta ?? {}).filter((one) => one !== 'svc/replica')).toEqual([]);
      }
    });
  });
}

function noTools(): void {
  describe('what is no tool', () => {
    const additions = operations.filter(({ mcp }) => mcp === false);

    it.each(additions.map(({ name, example }) => [name, example] as const))(
      '%s is not called by agents',
      async (name, example) => {
        const call = http.callTool({ name, arguments: example });
        await expect(call).rejects.toThrow(`Unknown tool: ${name}`);
      },
    );
  });
}

function sameRefusals(): void {
  describe('parity of refusals', () => {
    const input = { type: 'webhook', name: 'open' };

    it('say the same', async () => {
      const rest = await world.run('source_add', input);
      const error = {
        code: 'SOURCE_NAME_TAKEN',
        message: 'A source with this name already exists in the project.',
        hint: 'Choose another name.',
      };
      expect([rest.status, rest.body]).toEqual([409, { error }]);

      const cli = await harness.svc(...commandLine('source_add', input));
      expect(cli.code).toBe(1);
      expect(cli.out).toBe('');
      expect(JSON.parse(cli.err)).toEqual({ error });

      const line =
        'SOURCE_NAME_TAKEN: A source with this name already exists in the project. Choose another name.';
      for (const client of [http, stdio]) {
        expect(await client.callTool({ name: 'source_add', arguments: input })).toMatchObject({
          isError: true,
          content: [{ type: 'text', text: line }],
        });
      }
    });

    it('tell the limit of waits, what is used of it, and when to come back', async () => {
      const controller = new AbortController();
      const wait = '/v1/inbox/wait?type=never&timeout_seconds=60';
      const headers = { authorization: `Bearer ${harness.apiKey}` };
      const waits = Array.from({ length: 11 }, () =>
        fetch(harness.url + wait, { signal: controller.signal, headers }),
      );
      try {
        // Ten are held; the one that's left is refused at once.
        const refused = await Promise.any(waits);
        const told = { kind: 'key', limit: 10, used: 10, retry_after: 5 };
        const hint =
          '10 of 10 waits of this key are open: let one end first, or repeat in 5 seconds.';
        expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
        const error = { code: 'TOO_MANY_WAITS', hint, details: told };
        expect(await refused.json()).toMatchObject({ error });
        const cli = await harness.svc('inbox', 'wait', '--type', 'never', '--json');
        expect(JSON.parse(cli.err)).toMatchObject({ error });
        for (const client of [http, stdio]) {
          const wanted = { name: 'inbox_wait', arguments: { type: 'never' } };
          expect(await client.callTool(wanted)).toMatchObject({
            isError: true,
            content: [{ text: `TOO_MANY_WAITS: Too many concurrent waits. ${hint}` }],
            _meta: { 'svc/error': { ...told, code: 'TOO_MANY_WAITS' } },
          });
        }
      } finally {
        controller.abort();
        await Promise.allSettled(waits);
      }
    });

    it('name the fields of a wrong input', async () => {
      const wrong = { status: 'lost', limit: 0, surprise: 1 };
      for (const client of [http, stdio]) {
        const answer = await client.callTool({ name: 'inbox_list', arguments: wrong });
        const [content] = answer.content as { text: string }[];
        expect(answer.isError).toBe(true);
        expect(content?.text).toMatch(
          /^VALIDATION_FAILED: The request is invalid\. .*status: .*limit: .*surprise: .* Fix the listed fields\.$/,
        );
      }
    });
  });
}

function stdioServer(): void {
  describe('svc mcp', () => {
    it('is the server that HTTP is', () => {
      expect(stdio.getServerVersion()).toEqual(http.getServerVersion());
      expect(stdio.getServerVersion()?.name).toBe('svc');
      // It keeps what its client subscribes to, which a server without sessions cannot.
      const kept = { resources: { subscribe: true, listChanged: true } };
      expect(stdio.getServerCapabilities()).toEqual({ ...http.getServerCapabilities(), ...kept });
      expect(stdio.getInstructions()).toBe(http.getInstructions());
    });

    it('lists the same tools', async () => {
      const [over, through] = await Promise.all([http.listTools(), stdio.listTools()]);
      expect(through).toEqual(over);
      const tools = operations.filter(({ mcp }) => mcp !== false).map(({ name }) => name);
      expect(through.tools.map(({ name }) => name)).toEqual(tools);
    });

    it('has the same resources, and tells of those subscribed to', async () => {
      const uri = 'kv://parity/watched';
      await world.get('kv_set', { key: 'parity/watched', value: 1 });
      const [over, through] = await Promise.all([http.listResources(), stdio.listResources()]);
      expect(through.resources).toEqual(over.resources);
      expect(through.resources.map((one) => one.uri)).toContain(uri);
      const heard: string[] = [];
      stdio.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
        heard.push(params.uri);
      });
      await stdio.subscribeResource({ uri });
      await world.get('kv_set', { key: 'parity/watched', value: 2 });
      await expect.poll(() => heard).toContain(uri);
      for (const client of [http, stdio]) {
        const { contents } = await client.readResource({ uri });
        expect(contents).toEqual([{ uri, mimeType: 'application/json', text: '2' }]);
      }
      await stdio.unsubscribeResource({ uri });
    });

    it('answers pings', async () => {
      expect(await stdio.ping()).toEqual({});
    });
  });
}

/** By Node's own client, which sends a path as it is. */
async function get(path: string): Promise<[number, string, unknown]> {
  const sent = request(harness.url, { path }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const id = response.headers['x-request-id'];
  return [response.statusCode ?? 0, String(id), await json(response)];
}

function nowhere(): void {
  describe('an address that leads nowhere', () => {
    it.each([
      ['/v1/nothing', 404, 'NOT_FOUND'],
      ['/v1/whoami/', 404, 'NOT_FOUND'],
      ['/v1/keys/../whoami', 400, 'VALIDATION_FAILED'],
      [String.raw`/v1/keys\..\whoami`, 400, 'VALIDATION_FAILED'],
    ])('%s is refused in the common form', async (path, status, code) => {
      expect(await get(path)).toMatchObject([
        status,
        expect.stringMatching(/^\S{10,}$/),
        { error: { code } },
      ]);
    });
  });
}
