import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder, TestGateway } from '../helpers/gateway.ts';
import { listenHttp } from './tools/fakes.ts';

const PATIENCE = { timeout: 60_000 };

/** What a kill waits for. */
type Point = 'GET' | 'PUT' | 'PUT stored';

let gateway: TestGateway;
let proxy: Awaited<ReturnType<typeof listenHttp>>;
let folder: ReturnType<typeof temporaryFolder>;
/** The call that is held: before the gateway has it, or its answer. */
let held: Point | null;
let reached: Point[];
beforeEach(async () => {
  gateway = await TestGateway.start();
  folder = temporaryFolder();
  writeFileSync(place('runs'), '');
  held = null;
  reached = [];
  proxy = await listenHttp((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { method = '', url = '', headers } = request;
      if (held === method) return void reached.push(held);
      const answer = await fetch(`${gateway.url}${url}`, {
        method,
        headers: {
          authorization: String(headers.authorization),
          'content-type': 'application/json',
        },
        ...(method === 'PUT' && { body: Buffer.concat(chunks) }),
      });
      const text = await answer.text();
      if (held === `${method} stored`) return void reached.push(held);
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
    })();
  });
});
afterEach(async () => {
  await proxy.close();
  await gateway.stop();
  folder.remove();
});

function place(name: string): string {
  return join(folder.path, name);
}

const runs = () => readFileSync(place('runs'), 'utf8').length;

/** A step that marks that it runs. */
function start(script = '') {
  const command = ['sh', '-c', `printf x >> "$RUNS"; ${script} echo done by $$; cat`];
  const args = [resolve('dist/svc.cjs'), 'once', 'step', '--key', 'k', '--', ...command];
  const child = spawn(process.execPath, args, {
    env: {
      PATH: process.env['PATH'],
      RUNS: place('runs'),
      SVC_HOME: place('home'),
      SVC_GATEWAY: proxy.url,
      SVC_API_KEY: gateway.apiKey,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end('from standard input\n');
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString('utf8');
  });
  const ended = once(child, 'close').then(([code]: unknown[]) => ({ code, out }));
  return { child, ended };
}

/** Kills `svc once` there, lets go of what is held, and runs it to its end, twice. */
async function killedAt(isThere: () => boolean, script = '') {
  const { child, ended } = start(script);
  await expect.poll(isThere, PATIENCE).toBe(true);
  child.kill('SIGKILL');
  child.stdout.destroy();
  expect((await ended).out).toBe('');
  held = null;
  const first = await start().ended;
  expect(first).toMatchObject({ code: 0, out: expect.stringMatching(/^done by \d+\nfrom stan/) });
  expect(await start().ended).toEqual(first);
  return runs();
}

describe('svc once, killed', () => {
  it('before the command: it runs once', async () => {
    held = 'GET';
    expect(await killedAt(() => reached.length === 1)).toBe(1);
  });

  it('while the command runs: it runs again', async () => {
    expect(await killedAt(() => runs() === 1, 'sleep 3;')).toBe(2);
  });

  it('after the command and before its output is stored: it runs again', async () => {
    held = 'PUT';
    expect(await killedAt(() => reached.length === 1)).toBe(2);
  });

  it('after its output is stored and before it is printed: it runs no more', async () => {
    held = 'PUT stored';
    expect(await killedAt(() => reached.length === 1)).toBe(1);
  });
});
