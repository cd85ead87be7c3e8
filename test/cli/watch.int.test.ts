import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { Screen } from '../docs/screen.ts';
import { hurryTime } from '../helpers/hurried-time.ts';
import { answering, svc, type Json } from './approvals/fake-people.ts';
import { refuse, type FakeDaemon } from './fake-daemon.ts';
import { TextSink } from './fake-output.ts';

beforeEach(() => hurryTime(10));

let daemon: FakeDaemon | undefined;
afterEach(() => daemon?.close());

/** A list of as many keys. */
function keys(count: number): Json {
  const items = Array.from({ length: count }, (_, index) => ({ key: `k${index}`, version: 1 }));
  return { items, next_cursor: null };
}

/** Runs the line until all of these were answered and another call came; a number is the status of an error. */
async function watched(
  line: readonly string[],
  answers: readonly (Json | number)[],
  how: { readonly rows?: number; readonly columns?: number } = {},
) {
  const stop = new AbortController();
  let calls = 0;
  daemon = await answering({
    'GET /v1/kv': (_, response) => {
      const answer = answers[calls];
      calls += 1;
      if (answer === undefined) return stop.abort();
      return typeof answer === 'number' ? refuse(response, answer, 'UNAVAILABLE') : answer;
    },
  });
  const { rows, columns = 60 } = how;
  const terminal = rows !== undefined;
  const stdout = Object.assign(new TextSink(terminal, columns), { rows });
  const stderr = new TextSink(terminal, columns);
  const around = { env: { ...daemon.env, NO_COLOR: '1' }, stdout, stderr, signal: stop.signal };
  const code = await run(line, around);
  return { code, stdout: stdout.text, stderr: stderr.text, screen: screenOf(stdout.text) };
}

function screenOf(text: string): string[] {
  return new Screen().write(text.replaceAll('\n', '\r\n')).text();
}

const HEAD = /^Every 1s: svc kv list {2,}\d\d:\d\d:\d\d$/;

describe('--watch in a pipe', () => {
  it('prints a line of JSON, and another one when it changed', async () => {
    const ran = await watched(['kv', 'list', '--watch', '1s'], [keys(1), keys(1), keys(2)]);
    const [first, second] = [keys(1), keys(2)].map((list) => `${JSON.stringify(list)}\n`);
    expect(ran).toMatchObject({ code: 130, stdout: `${first}${second}`, stderr: '' });
  });

  it('prints what --jq makes of it, when that changed', async () => {
    const renamed = { items: [{ key: 'other' }], next_cursor: null };
    const line = ['kv', 'list', '--jq', '.items | length', '--watch=1s'];
    const ran = await watched(line, [keys(1), renamed, keys(3)]);
    expect(ran).toMatchObject({ code: 130, stdout: '1\n3\n', stderr: '' });
  });

  it('goes on after a failure, which it notes once', async () => {
    const answers = [keys(1), 503, 503, keys(1), keys(2)];
    const { stdout, stderr } = await watched(['kv', 'list', '--watch', '1s'], answers);
    expect(stdout.split('\n')).toHaveLength(3);
    expect(stderr).toBe('UNAVAILABLE: UNAVAILABLE. Trying again.\nIt works again.\n');
  });
});

describe('--watch on a terminal', () => {
  it('redraws in place below the command, its interval and the time, and leaves the last view', async () => {
    const line = ['kv', 'list', '--watch', '1s'];
    const { code, screen, stderr } = await watched(line, [keys(5), keys(2)], { rows: 20 });
    expect({ code, stderr }).toEqual({ code: 130, stderr: '' });
    expect(screen).toEqual([
      expect.stringMatching(HEAD),
      '',
      expect.stringMatching(/^KEY +.*VERSION$/),
      expect.stringMatching(/^k0 /),
      expect.stringMatching(/^k1 /),
    ]);
  });

  it('is never taller than the screen', async () => {
    const line = ['kv', 'list', '--watch', '1s'];
    const { screen } = await watched(line, [keys(9), keys(10)], { rows: 8 });
    expect(screen).toHaveLength(7);
    expect(screen.at(-1)).toBe('… and 7 more lines');
  });

  it('shows a failure above the answer before it', async () => {
    const line = ['kv', 'list', '--watch', '1s'];
    const { screen } = await watched(line, [503, keys(1), 503], { rows: 20, columns: 90 });
    expect(screen[1]).toMatch(
      /^UNAVAILABLE: UNAVAILABLE\. Trying again\. Below: the answer of \d\d:\d\d:\d\d\.$/,
    );
    expect(screen.at(-1)).toMatch(/^k0 /);
  });

  it('redraws what --jq makes of it', async () => {
    const line = ['kv', 'list', '--watch', '1s', '--jq', '.items | length'];
    const { screen } = await watched(line, [keys(1), keys(2)], { rows: 20 });
    expect(screen.slice(1)).toEqual(['', '2']);
    expect(screen[0]).toMatch(/^Every 1s: svc kv list --jq '\.items \| length' /);
  });

  it('prints lines of JSON with --json', async () => {
    const line = ['kv', 'list', '--watch', '1s', '--json'];
    const { stdout } = await watched(line, [keys(1), keys(1)], { rows: 20 });
    expect(stdout).toBe(`${JSON.stringify(keys(1))}\n`);
  });
});

describe('--watch is refused', () => {
  it.each([
    ['kv list --watch --all', "--watch and --all can't be used together."],
    ['kv list --watch 0s', '--watch must be at least 1s.'],
    ['kv list --watch 500ms', '--watch must be a time up to 24h, not "500ms".'],
    ['kv list --watch=soon', '--watch must be a time up to 24h, not "soon".'],
    ['kv set k 1 --watch', 'Unknown flag --watch.'],
  ])('before any call: %s', async (line, message) => {
    daemon = await answering({ 'GET /v1/kv': keys(1) });
    const { code, stderr } = await svc(line.split(' '), daemon);
    expect(code).toBe(2);
    expect(stderr.split('\n')[0]).toBe(`USAGE: ${message}`);
    expect(daemon.seen).toEqual([]);
  });

  it('if the first call is refused', async () => {
    daemon = await answering({});
    const { code, stdout, stderr } = await svc(['kv', 'get', 'no', '--watch'], daemon);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(/^NOT_FOUND: /);
  });
});
