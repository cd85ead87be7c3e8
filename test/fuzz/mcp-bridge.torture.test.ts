import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { corpus } from './corpus.ts';
import { FuzzedGateway } from './fuzzed-gateway.ts';
import { hostileBody, hostileValue, mutated } from './hostile.ts';
import { asJson } from './requests.ts';
import { rpcFaults } from './rpc.ts';
import { fuzz, unmet, HUNG_MS } from './runs.ts';

const NEWLINE = Buffer.from('\n');

let gateway: FuzzedGateway;
beforeAll(async () => {
  gateway = await FuzzedGateway.start();
});
afterAll(() => gateway.stop());

interface Ended {
  readonly code: unknown;
  readonly lines: readonly string[];
  readonly notes: string;
}

/** Runs `svc mcp` on an input until it ends on its own. */
async function bridged(input: Buffer): Promise<Ended> {
  const child = spawn(process.execPath, ['dist/svc.cjs', 'mcp'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      SVC_HOME: join(gateway.folder, 'home'),
      SVC_GATEWAY: gateway.url,
      SVC_API_KEY: gateway.apiKey,
    },
  });
  let out = '';
  let notes = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (notes += text));
  // A bridge that has ended is found by its code.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [unknown];
  return { code, lines: out.split('\n').filter((line) => line !== ''), notes };
}

const ping = (id: string): Buffer => asJson({ jsonrpc: '2.0', id, method: 'ping' });

/** The faults after lines of garbage, each followed by a request. */
async function faultsOf(garbage: readonly Buffer[]): Promise<string[]> {
  const ids = garbage.map((_, index) => `ping-${index}`);
  const input = garbage.flatMap((line, index) => [line, NEWLINE, ping(ids[index] ?? ''), NEWLINE]);
  const { code, lines, notes } = await bridged(Buffer.concat(input));
  const answers = lines.map((line) => parsed(line));
  const answered = new Set(answers.map((answer) => (answer as { id?: unknown } | null)?.id));
  const lost = ids.filter((id) => !answered.has(id));
  const wrong = answers.flatMap((answer) => {
    const id = (answer as { id?: unknown } | null)?.id ?? null;
    return unmet(rpcFaults(answer, id)).map((fault) => `${fault}: ${JSON.stringify(answer)}`);
  });
  return [
    ...wrong.map((fault) => fault.slice(0, 500)),
    ...unmet({
      [`it goes on to the end: ${String(code)} ${notes.slice(0, 500)}`]: code === 0,
      [`each request is answered, not ${lost.join()}`]: lost.length === 0,
      [`it shows no line of code: ${notes.slice(0, 500)}`]: !/\n\s+at /.test(notes),
    }),
  ];
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

describe('the bridge of standard input and output', () => {
  it(
    'goes on after every line of the corpus',
    async () => {
      expect(await faultsOf(corpus('mcp').map(({ bytes }) => bytes))).toEqual([]);
    },
    HUNG_MS,
  );

  it(
    'goes on after lines of garbage',
    async () => {
      const tokens = ['{', '}', '"', '\n', '\r', '\0', '\xff', '\\ud800', '\u2028', ':'];
      const method = fc.constantFrom('tools/list', 'ping', 'initialize', 'x', 'tools/call');
      const line = fc.oneof(
        hostileBody,
        hostileValue.map(asJson),
        fc
          .tuple(fc.integer(), method, hostileValue)
          .map(([id, name, params]) => asJson({ jsonrpc: '2.0', id, method: name, params })),
        fc
          .constantFrom(...corpus('mcp').map(({ bytes }) => bytes))
          .chain((bytes) => mutated(bytes, tokens)),
      );
      const lines = fc.array(line, { minLength: 40, maxLength: 60 });
      expect(await fuzz(lines, 2, faultsOf)).toBeNull();
    },
    HUNG_MS,
  );
});
