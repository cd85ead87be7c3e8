import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

/**
 * `torture-program.ts [--minutes 10] [--runs 5] [--seed N] [FILE…]`: fuzzes for that long, each round with another seed and so
 * many times the ordinary inputs. Ends with 1 at the first round that found something, after saying how to have it again.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '10' },
    runs: { type: 'string', default: '5' },
    seed: { type: 'string' },
  },
});
const VITEST = resolve('node_modules/vitest/vitest.mjs');
const files = positionals.length > 0 ? positionals : ['test/fuzz'];
const endsAt = performance.now() + positive('minutes', values.minutes) * 60_000;
const runs = positive('runs', values.runs);
const given = values.seed === undefined ? null : positive('seed', values.seed);

let rounds = 0;
for (;;) {
  const seed = given ?? randomInt(1, 2 ** 31);
  rounds += 1;
  process.stdout.write(`round ${rounds}: seed ${seed}\n`);
  const child = spawn(process.execPath, [VITEST, 'run', '--reporter=dot', ...files], {
    stdio: 'inherit',
    env: { ...process.env, SVC_FUZZ_SEED: String(seed), SVC_FUZZ_RUNS: String(runs) },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) {
    process.stdout.write(
      `Found with: SVC_FUZZ_SEED=${seed} SVC_FUZZ_RUNS=${runs} npx vitest run ${files.join(' ')}\n`,
    );
    process.exit(1);
  }
  if (given !== null || performance.now() >= endsAt) break;
}
process.stdout.write(`${rounds} rounds, nothing found.\n`);

function positive(name: string, text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  process.stderr.write(`--${name} is a number above 0.\n`);
  process.exit(2);
}
