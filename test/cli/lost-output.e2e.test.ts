import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { svc, svcUp } from '../helpers/daemon.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

const folder = temporaryFolder();
let hook: string;

beforeAll(async () => {
  await svcUp(folder.path);
  const added = JSON.parse(await svc(folder.path, ['source', 'add', 'shop', '--json'])) as {
    url: string;
  };
  hook = added.url;
});
afterAll(async () => {
  await svc(folder.path, ['down']);
  folder.remove();
});

/** Runs a line of the shell in which `svc` is this program. */
function shell(line: string): Promise<{ code: number; err: string }> {
  const program = `svc() { ${process.execPath} ${resolve('dist/svc.cjs')} "$@"; }\n`;
  const env = { ...process.env, SVC_HOME: folder.path };
  return new Promise((done) => {
    execFile('bash', ['-c', program + line], { env }, (error, _out, err) => {
      done({ code: typeof error?.code === 'number' ? error.code : 0, err });
    });
  });
}

async function statusOf(event: string): Promise<Record<string, unknown>> {
  return JSON.parse(await svc(folder.path, ['inbox', 'get', event, '--json'])) as never;
}

async function arrives(): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(hook, {
    method: 'POST',
    headers,
    body: JSON.stringify({ at: Math.random() }),
  });
  return ((await answer.json()) as { event_id: string }).event_id;
}

describe('a full disk on standard output', () => {
  it('is said', async () => {
    const { code, err } = await shell('svc whoami > /dev/full');
    expect(code).toBe(1);
    expect(err).toContain("Standard output can't be written: the disk is full (ENOSPC).");
  });

  it('leaves no event claimed for nobody', async () => {
    const event = await arrives();
    await shell('svc inbox next > /dev/full');
    expect(await statusOf(event)).toMatchObject({ status: 'pending', attempts: 0 });
    await shell(`svc inbox claim ${event} > /dev/full`);
    expect(await statusOf(event)).toMatchObject({ status: 'pending', attempts: 0 });
    await svc(folder.path, ['inbox', 'claim', event]);
    await svc(folder.path, ['inbox', 'ack', event]);
  });
});

describe('a reader that is gone', () => {
  it('leaves no event claimed for nobody, though the wait began before', async () => {
    const waiting = shell('svc inbox next --wait 100s | true; exit ${PIPESTATUS[0]}');
    const event = await arrives();
    expect((await waiting).code).toBe(0);
    expect(await statusOf(event)).toMatchObject({ status: 'pending', attempts: 0 });
  });
});
