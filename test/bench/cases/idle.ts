import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, RunBench } from '../bench.ts';
import { plainEnvironment } from '../children.ts';
import { buildProduct, ProductDaemon } from '../product.ts';
import { residentBytes } from '../processor.ts';
import type { Row } from '../report.ts';
import { spread } from '../stats.ts';
import { findTool, missing } from '../tools.ts';

/** After its start the engine tidies up for a while. */
const SETTLE_SECONDS = 20;
const QUICK_SETTLE_SECONDS = 10;
/** The very first start after an installation leaves some megabytes more. */
const KEPT_SECONDS = 6;

/** What a daemon costs that nobody calls. */
export const idle: RunBench = async (bench) => {
  await buildProduct(bench.progress);
  const seconds = bench.quick ? 10 : 60;
  const bare = bench.workshop.own(await BareServer.start());
  bench.progress('starting it once, after which what was compiled is kept');
  const first = bench.workshop.own(await ProductDaemon.start(bench.workshop.place('first')));
  await sleep(KEPT_SECONDS * 1000);
  await first.end();
  const daemon = bench.workshop.own(await ProductDaemon.start(bench.workshop.place('home')));
  try {
    bench.progress('letting the daemon settle');
    await sleep((bench.quick ? QUICK_SETTLE_SECONDS : SETTLE_SECONDS) * 1000);
    bench.progress(`watching it for ${seconds} s`);
    const before = { ours: sleepsOf(daemon.pid), bare: sleepsOf(bare.pid) };
    await sleep(seconds * 1000);
    const ours = since(before.ours, sleepsOf(daemon.pid));
    const theirs = since(before.bare, sleepsOf(bare.pid));
    const megabytes = residentBytes(daemon.pid) / 1e6;
    const name = 'bare node:http server';
    return [
      {
        bench: 'idle',
        what: 'idle daemon, resident memory',
        value: { unit: 'MB', spread: spread([megabytes]) },
        baseline: { name, unit: 'MB', spread: spread([residentBytes(bare.pid) / 1e6]) },
        target: { of: 'value', op: '<=', limit: 110 },
      },
      {
        bench: 'idle',
        what: `idle daemon, wake-ups of its code in ${seconds} s`,
        value: { unit: '', spread: spread([ours.main]) },
        baseline: { name, unit: '', spread: spread([theirs.main]) },
        target: { of: 'value', op: '<=', limit: 0 },
      },
      {
        bench: 'idle',
        what: `idle daemon, wake-ups of the engine's other threads in ${seconds} s`,
        value: { unit: '', spread: spread([ours.others]) },
        baseline: { name, unit: '', spread: spread([theirs.others]) },
      },
      await systemCalls(bench, daemon.pid, seconds),
    ];
  } finally {
    await daemon.end();
  }
};

/** All code runs on the main thread; the others serve it, and the engine by itself. */
interface Sleeps {
  readonly main: number;
  readonly others: number;
}

function since(before: Sleeps, now: Sleeps): Sleeps {
  return { main: now.main - before.main, others: now.others - before.others };
}

/** How often its threads have gone to sleep; a thread that never wakes does not go to sleep again. */
function sleepsOf(pid: number): Sleeps {
  let main = 0;
  let others = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8');
    const count = Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)?.[1]);
    if (thread === String(pid)) main += count;
    else others += count;
  }
  return { main, others };
}

/** The same by another instrument, which tells what woke it. */
async function systemCalls(bench: Bench, pid: number, seconds: number): Promise<Row> {
  const row = { bench: 'idle', what: `idle daemon, system calls of its code in ${seconds} s` };
  const target = { of: 'value', op: '<=', limit: 0 } as const;
  const strace = findTool('strace');
  if (!strace) return { ...row, target, skipped: missing('strace') };
  bench.progress(`tracing it for ${seconds} s`);
  const log = join(bench.workshop.place('strace'), 'log');
  const tracer = spawn(strace, ['-r', '-o', log, '-p', String(pid)], { stdio: 'ignore' });
  const ended = once(tracer, 'exit');
  // What it prints while it attaches is of its own making.
  await sleep(1000);
  const attached = callsIn(log).length;
  await sleep(seconds * 1000);
  const calls = callsIn(log).slice(attached);
  tracer.kill('SIGINT');
  await ended;
  const names = [...new Set(calls.map((line) => /(\w+)\(/.exec(line)?.[1] ?? line))];
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

/** A server of Node with nothing behind it. */
class BareServer {
  readonly pid: number;
  readonly #process: ChildProcess;

  private constructor(server: ChildProcess, pid: number) {
    this.#process = server;
    this.pid = pid;
  }

  static async start(): Promise<BareServer> {
    const script =
      "require('node:http').createServer().listen(0, '127.0.0.1', () => console.log())";
    const server = spawn(process.execPath, ['-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: plainEnvironment(),
    });
    await once(server.stdout, 'data');
    if (server.pid === undefined) throw new Error('The bare server did not start.');
    return new BareServer(server, server.pid);
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, 'exit');
    process.kill(this.pid, 'SIGTERM');
    await ended;
  }
}
