import { execFile } from 'node:child_process';
import { cpSync, existsSync, readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createVault, loadMasterKey } from '../../../gateway/lib/vault.ts';
import { FakeTelegram } from '../../helpers/fake-telegram.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { Receiver } from '../callbacks/callback-receiver.ts';
import { operator } from './operator.ts';
import {
  live,
  sealedByDatabase,
  sealedIn,
  signed,
  startWith,
  type Outside,
  type Scenario,
} from './sealed-scenario.ts';

const KEPT = /^master\.key\.[0-9a-f]{8}$/;

const root = temporaryFolder();
const before = join(root.path, 'before');
let outside: Outside;
let scenario: Scenario;

beforeAll(async () => {
  outside = { telegram: await FakeTelegram.start(), receiver: await Receiver.start() };
  scenario = await live(before, outside);
});
afterAll(async () => {
  await outside.telegram.stop();
  await outside.receiver.stop();
  root.remove();
});

/** A copy of the data folder, beside the file that the new key will be in. */
function copyOf(name: string): { data: string; newKey: string } {
  const data = join(root.path, name);
  cpSync(before, data, { recursive: true });
  return { data, newKey: join(root.path, `${name}.key`) };
}

/** Answers at which point it died. */
function dyingRekey(
  { data, newKey }: { data: string; newKey: string },
  time: number,
  env: Record<string, string> = {},
): Promise<{ point: string; signal: unknown }> {
  const program = 'test/gateway/admin/rekey-dying-program.ts';
  const args = ['--import', 'tsx', program, data, newKey, String(time)];
  return new Promise((done) => {
    execFile(process.execPath, args, { env: { ...process.env, ...env } }, (error, point) =>
      done({ point, signal: error?.signal ?? null }),
    );
  });
}

/** Which databases have values of one key, and which of the other. */
function replication(data: string, newKey: string): { old: string[]; fresh: string[] } {
  const [old, fresh] = [join(before, 'master.key'), newKey].map((file) => [
    ...sealedByDatabase(data, createVault(loadMasterKey(file))).keys(),
  ]);
  return { old: old ?? [], fresh: fresh ?? [] };
}

async function expectAlive(data: string, more: { masterKeyFile?: string } = {}): Promise<void> {
  const gateway = await startWith(data, outside, { projectOf: scenario, ...more });
  try {
    const body = '{"action":"opened"}';
    const hook = gateway.url + new URL(scenario.hook).pathname;
    expect((await gateway.deliver(hook, body, signed(body, 'delivery-1'))).status).toBe(200);
    const verified = await gateway.call('POST', '/v1/ledger/verify', { body: {} });
    expect(verified.body).toMatchObject({ ok: true });
  } finally {
    await gateway.stop({ keepFolder: true });
  }
}

/** What of keys and their change lies in a data folder. */
function keyFilesIn(data: string): string[] {
  return readdirSync(data).filter((name) => /key/.test(name));
}

/** The next run comes to the end, and all is as it was but for the key. */
async function expectFinished({ data, newKey }: { data: string; newKey: string }): Promise<void> {
  const finished = await operator(['rekey', '--new-key', newKey, '--data', data, '--json']);
  expect([finished.err, finished.code]).toEqual([expect.stringContaining('in its place'), 0]);
  expect(replication(data, newKey)).toMatchObject({ old: [], fresh: { length: 3 } });
  expect(loadMasterKey(join(data, 'master.key'))).toEqual(loadMasterKey(newKey));
  expect(keyFilesIn(data)).toEqual(['master.key', expect.stringMatching(KEPT)]);
  expect(loadMasterKey(join(data, keyFilesIn(data)[1] ?? ''))).toEqual(
    loadMasterKey(join(before, 'master.key')),
  );
  await expectAlive(data);
}

describe('a change of the master key that is killed', () => {
  it.each([
    [3, 'marked', 0],
    [4, 'database done', 1],
    [5, 'database done', 2],
    [6, 'database done', 3],
    [7, 'old key kept', 3],
    [8, 'key in place', 3],
    [9, 'spare dropped', 3],
  ])('is finished by the next run, and nothing starts before: %i, %s', async (time, at, done) => {
    const copy = copyOf(`killed-${time}`);
    const { data, newKey } = copy;
    expect(await dyingRekey(copy, time)).toEqual({ point: at, signal: 'SIGKILL' });
    // Each database has the one or the other, and both keys are there.
    const { old, fresh } = replication(data, newKey);
    expect([fresh.length, old.length]).toEqual([done, 3 - done]);
    expect(old.filter((path) => fresh.includes(path))).toEqual([]);
    const again = `svc gateway rekey --data ${data} --new-key ${newKey}`;
    await expect(startWith(data, outside)).rejects.toThrow(again);
    await expectFinished(copy);
  });

  it.each([
    [1, 'checked'],
    [2, 'new key kept'],
  ])('has changed nothing before all of it was found to open: %i, %s', async (time, at) => {
    const copy = copyOf(`killed-${time}`);
    const { data, newKey } = copy;
    expect(await dyingRekey(copy, time)).toEqual({ point: at, signal: 'SIGKILL' });
    expect(replication(data, newKey)).toMatchObject({ old: { length: 3 }, fresh: [] });
    expect(existsSync(join(data, 'rekeying'))).toBe(false);
    await expectFinished(copy);
  });

  it.each([
    [3, 'marked'],
    [5, 'database done'],
    [8, 'key in place'],
  ])(
    'loses nothing with the file of the new key, which went with the machine: %i, %s',
    async (time, at) => {
      const copy = copyOf(`gone-${time}`);
      const { data, newKey } = copy;
      expect((await dyingRekey(copy, time)).point).toBe(at);
      const elsewhere = `${newKey}.elsewhere`;
      renameSync(newKey, elsewhere);
      const other = join(root.path, `other-${time}.key`);
      const wrong = await operator(['rekey', '--new-key', other, '--data', data]);
      expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining(newKey) });
      expect(existsSync(other)).toBe(false);
      const finished = await operator(['rekey', '--new-key', newKey, '--data', data]);
      expect([finished.err, finished.code]).toEqual([
        expect.stringContaining(`${newKey} no longer holds it`),
        0,
      ]);
      expect(replication(data, elsewhere)).toMatchObject({ old: [], fresh: { length: 3 } });
      expect(keyFilesIn(data)).toEqual(['master.key', expect.stringMatching(KEPT)]);
      await expectAlive(data);
    },
  );

  it.each(['rekeying', 'master.key'])(
    'leaves no copy of a key when it was killed while it wrote %s',
    async (file) => {
      const copy = copyOf(`writing-${file}`);
      const path = join(copy.data, file);
      const died = await dyingRekey(copy, 0, { DIE_BEFORE_NAMING: path });
      expect(died).toEqual({ point: path, signal: 'SIGKILL' });
      expect(readdirSync(copy.data).filter((name) => name.endsWith('.tmp'))).toHaveLength(1);
      await expectFinished(copy);
      expect(readdirSync(copy.data).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    },
  );

  it('keeps half of it out of a backup, and takes no third key meanwhile', async () => {
    const copy = copyOf('half');
    const { data, newKey } = copy;
    expect((await dyingRekey(copy, 4)).point).toBe('database done');
    const copied = await operator(['backup', join(root.path, 'no'), '--data', data]);
    expect(copied).toMatchObject({ code: 1, err: expect.stringContaining('Run it again') });
    const other = join(root.path, 'other.key');
    const wrong = await operator(['rekey', '--new-key', other, '--data', data]);
    expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining(newKey) });
    expect(existsSync(other)).toBe(false);
  });

  it('is finished when it was killed after its end', async () => {
    const copy = copyOf('killed-10');
    expect(await dyingRekey(copy, 10)).toEqual({ point: 'unmarked', signal: 'SIGKILL' });
    const again = await operator(['rekey', '--new-key', copy.newKey, '--data', copy.data]);
    expect(again).toMatchObject({
      code: 1,
      err: expect.stringContaining('already holds the current master key'),
    });
    await expectAlive(copy.data);
  });

  it('goes on with a key that a setting names, which then has to be named', async () => {
    const copy = copyOf('named');
    const { data, newKey } = copy;
    const keyFile = join(root.path, 'named-old.key');
    cpSync(join(before, 'master.key'), keyFile);
    const env = { SVC_MASTER_KEY_FILE: keyFile };
    expect((await dyingRekey(copy, 5, env)).signal).toBe('SIGKILL');
    // Too early: the databases that were not reached have the other one.
    const early = await operator(['rekey', '--new-key', newKey, '--data', data], {
      SVC_MASTER_KEY_FILE: newKey,
    });
    expect(early).toMatchObject({ code: 1, err: expect.stringContaining('SVC_MASTER_KEY_FILE') });
    const finished = await operator(['rekey', '--new-key', newKey, '--data', data], env);
    expect(finished.code).toBe(0);
    expect(finished.err).toContain(`SVC_MASTER_KEY_FILE=${newKey}\n`);
    // Whoever has the key elsewhere wants none beside the data.
    expect(keyFilesIn(data)).toEqual(['master.key']);
    expect(sealedIn(data, createVault(loadMasterKey(keyFile)))).toEqual([]);
    await expectAlive(data, { masterKeyFile: newKey });
  });

  it('keeps the only copy of a new key that has to be named, and says where', async () => {
    const copy = copyOf('named-gone');
    const { data, newKey } = copy;
    const keyFile = join(root.path, 'named-gone-old.key');
    renameSync(join(data, 'master.key'), keyFile);
    const env = { SVC_MASTER_KEY_FILE: keyFile };
    expect((await dyingRekey(copy, 5, env)).point).toBe('database done');
    const elsewhere = `${newKey}.elsewhere`;
    renameSync(newKey, elsewhere);
    const finished = await operator(['rekey', '--new-key', newKey, '--data', data], env);
    expect(finished.code).toBe(0);
    const [kept = ''] = keyFilesIn(data);
    expect(kept).toMatch(KEPT);
    const masterKeyFile = join(data, kept);
    expect(finished.err).toContain(`SVC_MASTER_KEY_FILE=${masterKeyFile}\n`);
    expect(finished.err).toContain('the only one: move it out of the data folder');
    expect(statSync(masterKeyFile).mode & 0o777).toBe(0o600);
    expect(loadMasterKey(masterKeyFile)).toEqual(loadMasterKey(elsewhere));
    await expectAlive(data, { masterKeyFile });
  });
});
