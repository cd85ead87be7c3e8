import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';

export interface TortureOptions {
  readonly minutes: number;
  /** Of a run that failed; null lets each choose, and say so. */
  readonly seed: number | null;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
}

export interface Outcome {
  readonly ok: boolean;
  /** In one line: figures, or what went wrong. */
  readonly detail: string;
}

export type Run = (options: TortureOptions) => Promise<Outcome>;

const TAIL_LINES = 80;
const VITEST = resolve('node_modules/vitest/vitest.mjs');

/** A program's arguments for its time and its seed. */
type ArgsOf = (options: TortureOptions) => readonly string[];

export const byMinutes: ArgsOf = ({ minutes }) => ['--minutes', String(minutes)];

export const byMinutesAndSeed: ArgsOf = ({ minutes, seed }) => [
  '--minutes',
  String(minutes),
  ...(seed === null ? [] : ['--seed', String(seed)]),
];

/** Runs one of our programs to its end and passes its output on. Its last line is the detail. */
export function runProgram(path: string, argsOf: ArgsOf): Run {
  return async (options) => {
    const { seed, signal, say } = options;
    const env = seed === null ? {} : { SVC_TEST_SEED: String(seed) };
    const args = ['--import', 'tsx', resolve(path), ...argsOf(options)];
    const { code, lines } = await run(args, { signal, say, env });
    return { ok: code === 0, detail: shortened(lines.at(-1) ?? `It ended with ${code}.`) };
  };
}

/** Runs tests again and again until the time is over or they fail, with another seed each time. */
export function repeatTests(files: readonly string[]): Run {
  return async ({ minutes, seed, signal, say }) => {
    const endsAt = performance.now() + minutes * 60_000;
    const first = seed ?? randomInt(2 ** 31);
    let rounds = 0;
    do {
      const env = { SVC_TEST_SEED: String(first + rounds), NO_COLOR: '1' };
      const began = performance.now();
      const { code, lines } = await run([VITEST, 'run', ...files], { signal, env });
      rounds += 1;
      const seconds = Math.round((performance.now() - began) / 1000);
      if (code !== 0) {
        for (const line of lines.slice(-TAIL_LINES)) say(line);
        return { ok: false, detail: `round ${rounds} failed (SVC_TEST_SEED=${env.SVC_TEST_SEED})` };
      }
      say(`round ${rounds} held (${seconds} s)`);
    } while (performance.now() < endsAt && !signal.aborted);
    return { ok: true, detail: rounds === 1 ? '1 round' : `${rounds} rounds` };
  };
}

interface Child {
  readonly signal: AbortSignal;
  readonly env?: Readonly<Record<string, string>>;
  /** Gets each line as it comes. */
  readonly say?: (text: string) => void;
}

function run(
  args: readonly string[],
  { signal, env, say }: Child,
): Promise<{ code: number | null; lines: string[] }> {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  // Like Ctrl-C in a terminal, so that a program ends its children, too.
  const end = (): void => void child.kill('SIGINT');
  signal.addEventListener('abort', end, { once: true });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    let rest = '';
    stream.on('data', (bytes: Buffer) => {
      const parts = (rest + bytes.toString('utf8')).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts.filter((one) => one.trim() !== '')) {
        lines.push(line);
        say?.(line);
      }
    });
  }
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => {
      signal.removeEventListener('abort', end);
      done({ code, lines });
    });
  });
}

function shortened(line: string): string {
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}
