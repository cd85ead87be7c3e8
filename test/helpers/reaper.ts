import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';

/** Marks every process that a test run starts. It has no SVC_ prefix, because our programs refuse unknown settings. */
const NAME = 'VITEST_RUN_MARK';

/** For a process that gets its own environment. */
export function runMark(): Record<string, string> {
  const mark = process.env[NAME];
  return mark === undefined ? {} : { [NAME]: mark };
}

/** When this process is gone, however it ended, whatever it and its tests have left behind is ended: daemons and workers, too. */
export default function reapAfterwards(): void {
  if (process.env[NAME] !== undefined) return;
  const mark = randomUUID();
  const program = resolve('test/helpers/reaper.mjs');
  // In its own session, so that Ctrl-C doesn't reach it.
  const reaper = spawn(process.execPath, [program, `${NAME}=${mark}`], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  reaper.unref();
  if ('unref' in reaper.stdin && typeof reaper.stdin.unref === 'function') reaper.stdin.unref();
  process.env[NAME] = mark;
}
