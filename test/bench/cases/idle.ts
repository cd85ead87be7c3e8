import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, RunBench } from '../bench.ts';
import { buildProduct, ProductDaemon } from '../product.ts';
import type { Row } from '../report.ts';
import { spread } from '../stats.ts';
import { findTool, missing } from '../tools.ts';

/** After its start the engine tidies up for a while. */
const SETTLE_SECONDS = 20;
const QUICK_SETTLE_SECONDS = 10;

/** What a daemon costs that nobody calls. */
export const idle: RunBench = async (bench) => {
  await buildProduct(bench.progress);
  const seconds = bench.quick ? 10 : 60;
  const daemon = bench.workshop.own(await ProductDaemon.start(bench.workshop.place('home')));
  try {
    bench.progress('letting the daemon settle');
    await sleep((bench.quick ? QUICK_SETTLE_SECONDS : SETTLE_SECONDS) * 1000);
    bench.progress(`watching it for ${seconds} s`);
    const before = sleepsOf(daemon.pid);
    await sleep(seconds * 1000);
    const wakeUps = sleepsOf(daemon.pid) - before;
    const megabytes = residentBytes(daemon.pid) / 1e6;
    return [
      {
        bench: 'idle',
        what: 'idle daemon, resident memory',
        value: { unit: 'MB', spread: spread([megabytes]) },
        target: { of: 'value', op: '<=', limit: 100 },
      },
      {
        bench: 'idle',
        what: `idle daemon, wake-ups of all threads in ${seconds} s`,
        value: { unit: '', spread: spread([wakeUps]) },
        target: { of: 'value', op: '<=', limit: 0 },
      },
      await systemCalls(bench, daemon.pid, seconds),
    ];
  } finally {
    await daemon.end();
  }
};

/** How often its threads have gone to sleep; a thread that never wakes does not go to sleep again. */
function sleepsOf(pid: number): number {
  let count = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8');
    for (const [, number] of status.matchAll(/^(?:non)?voluntary_ctxt_switches:\s+(\d+)$/gm)) {
      count += Number(number);
    }
  }
  return count;
}

function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

/** The same by another instrument, which tells what woke it. */
async function systemCalls(bench: Bench, pid: number, seconds: number): Promise<Row> {
  const row = { bench: 'idle', what: `idle daemon, system calls in ${seconds} s` };
  const target = { of: 'value', op: '<=', limit: 0 } as const;
  const strace = findTool('strace');
  if (!strace) return { ...row, target, skipped: missing('strace') };
  bench.progress(`tracing it for ${seconds} s`);
  const log = join(bench.workshop.place('strace'), 'log');
  const tracer = spawn(strace, ['-f', '-r', '-o', log, '-p', String(pid)], { stdio: 'ignore' });
  const ended = once(tracer, 'exit');
  // What it prints while it attaches is of its own making.
  await sleep(1000);
  const attached = callsIn(log).length;
  await sleep(seconds * 1000);
  const calls = callsIn(log).slice(attached);
  tracer.kill('SIGINT');
  await ended;
  const names = [...new Set(calls.map((line) => /(\w+)[( ]/.exec(line.slice(20))?.[1] ?? line))];
  return {
    ...row,
    value: { unit: '', spread: spread([calls.length]) },
    target,
    ...(calls.length > 0 && { note: names.join(', ') }),
  };
}

function callsIn(log: string): string[] {
  return readFileSync(log, 'utf8').split('\n').filter(Boolean);
}
