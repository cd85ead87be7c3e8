import { parseArgs } from 'node:util';
import { runAll, summary } from './torture/all.ts';
import { TASKS, type Task } from './torture/tasks.ts';

const HELP = `The long versions of the tests of faults.

  npm run torture                                all of them, one after the other
  npm run torture -- kill replica                these
  npm run torture -- power-cut --minutes 10      for that long each (10 unless told otherwise)
  npm run torture -- simulator --seed 7          with the seed of a run that failed
  npm run torture -- --list                      what there is

It ends with 0 when all held, 1 when one did not, 2 when it was not understood, 130 when it was interrupted.
Not all of it is fit for a machine with other work: files, processes and load are many.
`;
const DEFAULT_MINUTES = '10';

interface Wanted {
  readonly tasks: readonly Task[];
  readonly minutes: number;
  readonly seed: number | null;
  readonly says: 'help' | 'list' | null;
}

/** Throws an error for the user. */
function understood(): Wanted {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      minutes: { type: 'string', default: DEFAULT_MINUTES },
      seed: { type: 'string' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const minutes = Number(values.minutes);
  const seed = values.seed === undefined ? null : Number(values.seed);
  if (!(minutes > 0)) throw new Error(`--minutes is no number above 0: ${values.minutes}`);
  if (seed !== null && !(Number.isSafeInteger(seed) && seed > 0)) {
    throw new Error(`--seed is no whole number above 0: ${values.seed}`);
  }
  const unknown = positionals.find((name) => !TASKS.some((task) => task.name === name));
  if (unknown !== undefined) {
    const names = TASKS.map(({ name }) => name).join(', ');
    throw new Error(`There is no task "${unknown}". There are: ${names}.`);
  }
  const tasks = TASKS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  return { tasks, minutes, seed, says: values.help ? 'help' : values.list ? 'list' : null };
}

function list(): string {
  const width = Math.max(...TASKS.map(({ name }) => name.length));
  return TASKS.map(({ name, what }) => `${name.padEnd(width)}  ${what}\n`).join('');
}

function say(text: string): void {
  process.stderr.write(`${new Date().toISOString()} ${text}\n`);
}

async function main({ tasks, minutes, seed }: Wanted): Promise<number> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  process.once('SIGINT', end).once('SIGTERM', end);
  say(`${minutes} minutes each${seed === null ? '' : `, with the seed ${seed}`}`);
  const results = await runAll(tasks, { minutes, seed, say, signal: ending.signal });
  process.stdout.write(`${summary(results)}\n`);
  if (ending.signal.aborted) return 130;
  return results.every(({ ok }) => ok) ? 0 : 1;
}

function wantedOrNull(): Wanted | null {
  try {
    return understood();
  } catch (error) {
    process.stderr.write(
      `${error instanceof Error ? error.message : String(error)}\nTry: npm run torture -- --help\n`,
    );
    return null;
  }
}

const wanted = wantedOrNull();
if (wanted === null) process.exitCode = 2;
else if (wanted.says !== null) process.stdout.write(wanted.says === 'help' ? HELP : list());
else process.exitCode = await main(wanted);
