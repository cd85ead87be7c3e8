import { parseArgs } from 'node:util';
import { soakReaders } from './soak.ts';

// Many readers and one writer that checkpoints all the time: `soak-program.ts --minutes 10`.
const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } });
const endsAt = performance.now() + Number(values.minutes) * 60_000;
const result = await soakReaders(
  () => performance.now() > endsAt,
  (text) => process.stderr.write(`${text}\n`),
);
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exitCode = result.wrong.length === 0 ? 0 : 1;
