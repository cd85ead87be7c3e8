import { execFile } from 'node:child_process';
import { chownSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/gateway.ts';
import { BOUND_UID, giveToBound, setWritable } from '../helpers/other-user.ts';
import { runMark } from '../helpers/reaper.ts';

let folder: ReturnType<typeof temporaryFolder>;
let data: string;
beforeEach(() => {
  folder = temporaryFolder();
  giveToBound(folder.path);
  data = join(folder.path, 'data');
});
afterEach(async () => {
  setWritable(folder.path, true);
  await svc('down');
  folder.remove();
});

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A command of a user whom permissions bind. */
function svc(...args: readonly string[]): Promise<Ran> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder.path,
    SVC_HOME: folder.path,
    ...runMark(),
  };
  const options = { env, ...(BOUND_UID !== undefined && { uid: BOUND_UID }) };
  return new Promise((done) => {
    const line = [resolve('dist/svc.cjs'), ...args];
    const child = execFile(process.execPath, line, options, (_error, out, err) =>
      done({ code: child.exitCode ?? -1, out, err }),
    );
  });
}

async function diskFinding(): Promise<unknown> {
  const { out } = await svc('doctor', '--json');
  const { items } = JSON.parse(out) as { items: { check: string }[] };
  return items.find(({ check }) => check === 'disk');
}

async function troubleInStatus(): Promise<unknown> {
  const { out } = await svc('status', '--json');
  return (JSON.parse(out) as { disk: { trouble: unknown } }).disk.trouble;
}

async function startedOnce(): Promise<void> {
  expect((await svc('up', '--port', '0')).code).toBe(0);
  expect((await svc('down')).code).toBe(0);
}

describe('a data folder that cannot be written', () => {
  it('starts no daemon, which says what to do; then starts one', async () => {
    await startedOnce();
    setWritable(data, false);
    const { code, err } = await svc('up', '--port', '0');
    expect(code).not.toBe(0);
    expect(err).toContain(`${data} can't be written: this user may only read it (EACCES).`);
    expect(err).toContain(`chmod -R u+w ${data}`);
    expect(await diskFinding()).toMatchObject({ status: 'error', fix: `chmod -R u+w ${data}` });
    expect(await troubleInStatus()).toMatchObject({ cure: `chmod -R u+w ${data}` });
    setWritable(data, true);
    await startedOnce();
  });

  it.runIf(BOUND_UID !== undefined).each(['data/control.db-shm', 'data/lock', 'daemon.log'])(
    'is named with its owner after a start as root: %s',
    async (name) => {
      await startedOnce();
      const file = join(folder.path, name);
      writeFileSync(file, '');
      chownSync(file, 0, 0);
      const { code, err } = await svc('up', '--port', '0');
      expect(code).not.toBe(0);
      expect(err).toContain(`${file} can't be written: it belongs to root (EACCES).`);
      expect(err).toMatch(/sudo chown -R \w+ /);
      rmSync(file);
    },
  );

  it('is named by status and doctor while the daemon runs, and mends itself', async () => {
    expect((await svc('up', '--port', '0')).code).toBe(0);
    writeFileSync(join(folder.path, 'a.txt'), 'text');
    expect(await troubleInStatus()).toBeNull();
    setWritable(data, false);
    const refused = await svc('file', 'put', join(folder.path, 'a.txt'));
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain(
      "The server can't write its data: a file or folder is read-only.",
    );
    expect(await troubleInStatus()).toMatchObject({ cure: `chmod -R u+w ${data}` });
    expect(await diskFinding()).toMatchObject({
      status: 'error',
      detail: expect.stringContaining(`${data} can't be written`),
    });
    setWritable(data, true);
    expect((await svc('file', 'put', join(folder.path, 'a.txt'))).code).toBe(0);
    expect(await troubleInStatus()).toBeNull();
    expect(await diskFinding()).not.toMatchObject({ status: 'error' });
  });
});
