import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HttpClient } from '../../../cli/call/client.ts';
import { work } from '../../../cli/commands/inbox/work.ts';
import { run } from '../../../cli/run.ts';
import type { WorkResult } from '../../../cli/work/work-event.ts';
import { Daemon } from '../../../daemon/daemon.ts';
import { resolveHome, type Home } from '../../../daemon/home.ts';
import { Waits } from '../../../shared/kernel/waits.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { TextSink } from '../fake-output.ts';
import { cloningWriters } from '../../helpers/writers.ts';

let folder: ReturnType<typeof temporaryFolder>;
let home: Home;
let daemon: Daemon;

async function start(): Promise<Daemon> {
  return Daemon.start({
    home,
    env: {},
    port: 0,
    ratePerMinute: 0,
    openWriters: cloningWriters,
    createLog: () => pino({ level: 'silent' }),
    onEnd: () => undefined,
  });
}

beforeEach(async () => {
  folder = temporaryFolder();
  home = resolveHome({ SVC_HOME: folder.path });
  daemon = await start();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await daemon.stop();
  folder.remove();
});

async function svc(line: string, more: NodeJS.ProcessEnv = {}) {
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  const around = {
    env: { SVC_HOME: folder.path, ...more },
    stdout,
    stderr,
    signal: new AbortController().signal,
  };
  return { code: await run(line.split(' '), around), stdout: stdout.text, stderr: stderr.text };
}

/** Resolves once the daemon holds a wait: a command takes its time to be loaded. */
async function waitIsHeld(): Promise<void> {
  const wait = vi.spyOn(Waits.prototype, 'wait');
  await expect.poll(() => wait.mock.calls.length).toBe(1);
}

function clientHere(): HttpClient {
  return new HttpClient({ home, env: {}, warn: () => undefined });
}

async function deliver(client: HttpClient): Promise<void> {
  const { url } = await client.call('source_add', { type: 'webhook', name: 'a' });
  expect((await fetch(String(url), { method: 'POST', body: 'hello' })).ok).toBe(true);
}

describe('svc inbox wait', () => {
  it('tells a daemon that was stopped from a timeout', async () => {
    const waiting = svc('inbox wait --timeout-seconds 30');
    await waitIsHeld();
    await daemon.stop();
    expect(await waiting).toEqual({
      code: 7,
      stdout: '',
      stderr: 'UNREACHABLE: The daemon was stopped during the wait.\nStart it with: svc up\n',
    });
  });

  it('does so for a gateway that is named', async () => {
    const gateway = { SVC_GATEWAY: daemon.record.base_url };
    const waiting = svc('inbox wait --timeout-seconds 30', gateway);
    await waitIsHeld();
    await daemon.stop();
    const { code, stderr } = await waiting;
    expect(code).toBe(7);
    expect(stderr).toContain('The gateway was stopped during the wait.');
  });

  it('ends with 3 at the timeout', async () => {
    const { code, stdout, stderr } = await svc('inbox wait --timeout-seconds 1');
    expect([code, stdout, stderr]).toEqual([3, '{"event":null}\n', '']);
  });
});

describe('svc inbox work', () => {
  it('says that the daemon was stopped and goes on with the next one', async () => {
    const finished: WorkResult[] = [];
    const notes: string[] = [];
    const client = clientHere();
    const { signal } = new AbortController();
    const working = work({
      client,
      command: 'exit 0',
      env: {},
      leaseSeconds: 300,
      source: undefined,
      type: undefined,
      mine: false,
      concurrency: 1,
      max: 1,
      drain: false,
      signal,
      kill: signal,
      note: (text) => void notes.push(text),
      onPrinted: () => undefined,
      onFinished: (one) => void finished.push(one),
    });
    await waitIsHeld();
    await daemon.stop();
    await expect
      .poll(() => notes)
      .toEqual(['The daemon was stopped during the wait. Trying again.']);
    daemon = await start();
    await deliver(client);
    await working;
    expect(finished).toMatchObject([{ outcome: 'acked' }]);
    expect(notes.slice(1)).toEqual(['Connected again.']);
  });
});
