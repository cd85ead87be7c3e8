import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { newApiKey, newProjectId } from '../../shared/lib/ids.ts';
import { VERSION } from '../../shared/lib/version.ts';
import { TextSink } from '../cli/fake-output.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { hostileText, hostileValue, nested, ownObject } from './hostile.ts';
import { fuzz, unmet, HUNG_MS } from './runs.ts';

const EVENT = 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3';
const USAGE = 2;

/** Commands, with all they need. */
const LINES: readonly (readonly string[])[] = [
  ['whoami'],
  ['inbox', 'list', '--limit', '5'],
  ['inbox', 'claim', EVENT, '--lease-seconds', '60'],
  ['inbox', 'ack', EVENT, '--result', '{"a":1}'],
  ['inbox', 'nack', EVENT, '--reason', 'late', '--retry=false'],
  ['kv', 'set', 'a/b', '{"n":1}', '--ttl-seconds', '60'],
  ['kv', 'get', 'a/b'],
  ['state', 'save', 'task', '--state', '{}', '--note', 'x'],
  ['key', 'create', '--name', 'ci', '--scopes', 'admin,disk'],
  ['source', 'add', 'github', '--type', 'webhook'],
  ['policy', 'test', '--action', 'pay', '--amount', '5'],
  ['ledger', 'query', '--limit', '3'],
  ['api', 'GET', '/v1/whoami'],
];

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

let folder: ReturnType<typeof temporaryFolder>;
let answer: (response: ServerResponse) => void;
let url = '';
const server = createServer((request, response) => {
  response.setHeader('x-service-version', VERSION);
  request.resume().on('end', () => answer(response));
});
beforeAll(async () => {
  folder = temporaryFolder();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  folder.remove();
});

function environment(): Record<string, string> {
  const key = newApiKey(newProjectId());
  return { SVC_HOME: folder.path, SVC_GATEWAY: url, SVC_API_KEY: key, NO_COLOR: '1' };
}

async function svc(argv: readonly string[], isTerminal = false): Promise<Ran> {
  const [stdout, stderr] = [new TextSink(isTerminal, 80), new TextSink(isTerminal, 80)];
  const around = { env: environment(), stdout, stderr, signal: new AbortController().signal };
  const code = await run(argv, around);
  return { code, out: stdout.text, err: stderr.text };
}

/** Control sequences that a terminal obeys, and characters that reverse text. */
const OBEYED =
  // oxlint-disable-next-line no-control-regex -- none of these may be there
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

function safetyFaults({ code, out, err }: Ran): string[] {
  return unmet({
    [`what is shown is text: ${JSON.stringify(out + err).slice(0, 600)}`]: !OBEYED.test(out + err),
    [`it is no fault of ours: ${err.slice(0, 600)}`]: !/fault of svc|\n\s+at |^INTERNAL/m.test(err),
    [`it ends as it should: ${code}`]: [0, 1, 2, 3, 4, 5, 6, 7].includes(code),
  });
}

/** An argument can't hold a NUL, and `@file` isn't tested here. */
const argument = hostileText.map((text) =>
  text.replaceAll('\0', '').replace(/^[@-]/, '').toWellFormed(),
);

describe('a command line', () => {
  it(
    'of anything is refused in words, or sent',
    async () => {
      answer = (response) => response.writeHead(200).end('{}');
      const changed = fc.tuple(
        fc.constantFrom(...LINES),
        fc.nat(10),
        fc.oneof(
          argument,
          argument.map((text) => `--${text}`),
        ),
        fc.boolean(),
        fc.boolean(),
      );
      const fault = await fuzz(changed, 400, async ([line, at, text, isInstead, isTerminal]) => {
        const argv = [...line];
        // The word in front stays: others start programs.
        argv.splice(1 + (at % line.length), isInstead ? 1 : 0, text);
        return safetyFaults(await svc(argv, isTerminal));
      });
      expect(fault).toBeNull();
    },
    HUNG_MS,
  );

  const wrong: [string, fc.Arbitrary<readonly string[]>][] = [
    ['a flag nobody knows', argument.map((text) => ['whoami', `--x${text}`])],
    ['an argument too many', argument.map((text) => ['kv', 'get', 'a', `x${text}`])],
    ['no argument', fc.constantFrom(['kv', 'get'], ['inbox', 'claim'], ['kv', 'set', 'a'])],
    ['no number', argument.map((text) => ['inbox', 'list', '--limit', `x${text}`])],
    ['no JSON', argument.map((text) => ['kv', 'set', 'a', `{${text}`])],
    ['no choice', argument.map((text) => ['inbox', 'list', '--status', `x${text}`])],
    [
      'a flag without a value',
      fc.constantFrom(['kv', 'list', '--prefix'], ['inbox', 'list', '--limit']),
    ],
    ['a command nobody knows', argument.map((text) => [`x${text}`, 'y'])],
    ['a file that is not there', argument.map((text) => ['kv', 'set', 'a', `@/nowhere/${text}`])],
  ];

  it.each(wrong)(
    'with %s ends with 2 and says what is wrong',
    async (_name, lines) => {
      const fault = await fuzz(lines, 40, async (argv) => {
        const ran = await svc(argv);
        return [
          ...safetyFaults(ran),
          ...unmet({
            [`it is refused, not ${ran.code} ${ran.out}${ran.err}`.slice(0, 600)]:
              ran.code === USAGE && ran.out === '',
            'it says why': /^USAGE: \S/.test(ran.err),
          }),
        ];
      });
      expect(fault).toBeNull();
    },
    HUNG_MS,
  );
});

const texts = fc.oneof(
  fc.constantFrom(
    '\u001b[31mred\u001b[0m',
    '\u009b2J',
    '\u202Eevil',
    'a\rb',
    '\u001b]8;;http://x\u0007',
  ),
  hostileText,
);

/** No deeper than the gateway takes any, and no longer than anybody reads. */
const values = hostileValue.filter((value) => (JSON.stringify(value) ?? '').length < 2000);

/** Answers as they should be, with texts that nobody should have let in. */
const hostileAnswer = fc.oneof(
  fc.record({
    items: fc.array(
      fc.record({ id: texts, type: texts, source: texts, status: texts, payload: values }),
      { maxLength: 3 },
    ),
    next_cursor: texts,
  }),
  fc.record({ id: texts, channel: fc.constant('email'), payload: mailPayload() }),
  fc.array(fc.tuple(texts, values), { maxLength: 4 }).map(ownObject),
  values,
  fc.constant(nested(128)),
);

function mailPayload(): fc.Arbitrary<unknown> {
  const from = fc.record({ address: texts, name: texts });
  return fc.record({ from, subject: texts, text: texts, text_stripped: texts, to: fc.array(from) });
}

const hostileError = fc.record({
  error: fc.record({
    code: texts,
    message: texts,
    hint: texts,
    details: fc.record({ fields: fc.array(fc.record({ path: texts, message: texts })), x: texts }),
  }),
});

describe('an answer', () => {
  const commands = fc.constantFrom(...LINES.filter(([word]) => word !== 'api'));

  it(
    'of any kind is shown as text',
    async () => {
      const all = fc.tuple(commands, hostileAnswer, fc.boolean());
      const fault = await fuzz(all, 300, async ([argv, body, isJson]) => {
        answer = (response) => response.writeHead(200).end(JSON.stringify(body));
        return safetyFaults(await svc(isJson ? [...argv, '--json'] : argv, true));
      });
      expect(fault).toBeNull();
    },
    HUNG_MS,
  );

  it(
    'that refuses is shown as text',
    async () => {
      const all = fc.tuple(
        commands,
        hostileError,
        fc.constantFrom(400, 401, 409, 500),
        fc.boolean(),
      );
      const fault = await fuzz(all, 60, async ([argv, body, status, isJson]) => {
        answer = (response) => response.writeHead(status).end(JSON.stringify(body));
        return safetyFaults(await svc(isJson ? [...argv, '--json'] : argv, true));
      });
      expect(fault).toBeNull();
    },
    HUNG_MS,
  );

  it(
    'that is none is told as such',
    async () => {
      const bodies = fc.tuple(
        commands,
        fc.oneof(fc.constantFrom('', '{', '<html>', 'null', '[]', '7', '\u001b[2J'), hostileText),
        fc.constantFrom(200, 201, 302, 404, 500, 502),
      );
      const fault = await fuzz(bodies, 100, async ([argv, text, status]) => {
        answer = (response) => response.writeHead(status).end(text);
        return safetyFaults(await svc(argv, true));
      });
      expect(fault).toBeNull();
    },
    HUNG_MS,
  );
});

/** The program itself, with something on its standard input. */
async function piped(argv: readonly string[], input: Uint8Array): Promise<Ran> {
  const child = spawn(process.execPath, ['dist/svc.cjs', ...argv], {
    env: { PATH: process.env['PATH'] ?? '', ...environment() },
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number];
  return { code, out, err };
}

describe('piped input', () => {
  it.each([
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00])],
    ['half of JSON', Buffer.from('{"a":')],
    ['nothing', Buffer.alloc(0)],
    ['a text that commands a terminal', Buffer.from('\u001b[2J\u202E')],
  ])(
    'of %s ends with 2 and says what is wrong',
    async (_name, input) => {
      const ran = await piped(['kv', 'set', 'a', '-'], input);
      expect(safetyFaults(ran)).toEqual([]);
      expect([ran.code, ran.out]).toEqual([USAGE, '']);
      expect(ran.err).toMatch(/^USAGE: \S/);
    },
    HUNG_MS,
  );
});
