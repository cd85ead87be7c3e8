import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { linkPackage } from '../../fault/client-bot.ts';
import { keyOf, svc, svcUp } from '../../helpers/daemon.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

/** Prints what its handlers do; each goes on until it may, or as its name says. */
const PROGRAM = `
import { Svc } from 'svc-agents/client';
const [source, how] = process.argv.slice(2);
await new Svc().work({ source }, async (event, { signal }) => {
  console.log('begun');
  if (how === 'deaf') await new Promise((resolve) => setTimeout(resolve, 600_000));
  if (how === 'slow') await new Promise((resolve) => setTimeout(resolve, 1500));
  if (how === 'ends') await new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}, { concurrency: 2, log: (line) => console.log(line) });
console.log('over');
`;

const folder = temporaryFolder();
const home = join(folder.path, 'home');
let base = '';
let key = '';
beforeAll(async () => {
  ({ base_url: base } = await svcUp(home));
  key = await keyOf(home);
  linkPackage(folder.path);
  writeFileSync(join(folder.path, 'worker.mjs'), PROGRAM);
});
afterAll(async () => {
  await svc(home, ['down']);
  folder.remove();
});

async function api(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const options = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  return (await (await fetch(new URL(path, base), options)).json()) as Record<string, unknown>;
}

interface Running {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly ended: Promise<unknown[]>;
  readonly ids: readonly string[];
}

/** A worker with two events. */
async function working(name: string): Promise<Running> {
  const added = await api('POST', '/v1/sources', { type: 'webhook', name, verification: 'none' });
  const ids: string[] = [];
  for (let n = 0; n < 2; n += 1)
    ids.push(String((await api('POST', String(added['url']), { n }))['event_id']));
  const env = { ...process.env, SVC_HOME: home };
  const child = spawn(process.execPath, ['worker.mjs', name, name], { cwd: folder.path, env });
  onTestFinished(() => void child.kill('SIGKILL'));
  let out = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (out += text));
  const ended = once(child, 'exit');
  await expect.poll(() => out.split('begun').length).toBe(3);
  return { child, out: () => out, ended, ids };
}

function standing({ ids }: Running): Promise<unknown[]> {
  return Promise.all(
    ids.map(async (id) => {
      const { status, attempts } = await api('GET', `/v1/inbox/events/${id}`);
      return { status, attempts };
    }),
  );
}

describe('Ctrl-C in a TypeScript worker', () => {
  it('lets the running handlers finish, says so, and goes on after the worker', async () => {
    const worker = await working('slow');
    worker.child.kill('SIGINT');
    expect(await worker.ended).toEqual([0, null]);
    expect(worker.out()).toContain(
      'Waiting for 2 running handlers. Press Ctrl-C again to give their events back.',
    );
    expect(worker.out()).toMatch(/over\n$/);
    expect((await standing(worker)).map((one) => (one as { status: string }).status)).toEqual([
      'done',
      'done',
    ]);
  });

  it.each([
    ['ends at its signal', 'ends'],
    ['ignores its signal', 'deaf'],
  ])(
    'pressed twice gives the events back uncounted, with a handler that %s',
    async (_what, how) => {
      const worker = await working(how);
      worker.child.kill('SIGINT');
      // Passed on by a parent, it's the same one.
      worker.child.kill('SIGINT');
      await sleep(600);
      expect(worker.child.exitCode ?? worker.child.signalCode).toBeNull();
      worker.child.kill('SIGINT');
      expect(await worker.ended).toEqual([null, 'SIGINT']);
      expect(worker.out()).not.toMatch(/over|failed/);
      const back = { status: 'pending', attempts: 0 };
      expect(await standing(worker)).toEqual([back, back]);
    },
  );
});
