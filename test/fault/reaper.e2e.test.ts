import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { runs } from '../helpers/daemon.ts';

/** Like a test run: it starts a process that outlives it. */
const RUN = `
import { spawn } from 'node:child_process';
import reapAfterwards from './test/helpers/reaper.ts';
reapAfterwards();
const left = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
process.stdout.write(String(left.pid));
setInterval(() => undefined, 1000);
`;

it('a run of tests that is killed leaves no process behind', async () => {
  const { VITEST_RUN_MARK: _, ...env } = process.env;
  const args = ['--import', 'tsx', '--input-type=module', '-e', RUN];
  const run = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [pid] = (await once(run.stdout, 'data')) as [Buffer];
  expect(runs(Number(pid))).toBe(true);
  run.kill('SIGKILL');
  await expect.poll(() => runs(Number(pid))).toBe(false);
});
