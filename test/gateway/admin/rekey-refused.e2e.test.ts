import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rekey, InterruptedRekeyError } from '../../../gateway/admin/rekey/rekey.ts';
import { readAdminSettings } from '../../../gateway/admin/settings.ts';
import { Connection } from '../../../shared/store/engine/connection.ts';
import { takeLock } from '../../../shared/store/engine/lock.ts';
import { temporaryFolder, TestGateway } from '../../helpers/gateway.ts';
import { startGatewayProcess } from '../server/gateway-process.ts';
import { StockClient } from '../replica/stock-client.ts';
import { operator } from './operator.ts';

const root = temporaryFolder();
const before = join(root.path, 'before');
let member: { readonly projectId: string; readonly apiKey: string };

beforeAll(async () => {
  mkdirSync(before);
  const gateway = await TestGateway.start({ folder: before });
  await gateway.addSource({ name: 'code', verification: 'github', secret: 'of GitHub' });
  const { projectId, apiKey } = gateway;
  member = { projectId, apiKey };
  await gateway.stop({ keepFolder: true });
});
afterAll(() => root.remove());

function copyOf(name: string): { data: string; args: string[]; newKey: string } {
  const data = join(root.path, name);
  const newKey = join(root.path, `${name}.key`);
  cpSync(before, data, { recursive: true });
  return { data, newKey, args: ['rekey', '--new-key', newKey, '--data', data] };
}

/** A change of another program to the database of the project. */
function change(data: string, sql: string): void {
  const path = join(data, 'projects', member.projectId, 'project.db');
  const connection = new Connection(path);
  connection.exec(sql);
  connection.close();
}

describe('a change of the master key is refused, and nothing is changed', () => {
  it('while another process has the data, by its number', async () => {
    const { data, args } = copyOf('held');
    const lock = takeLock(join(data, 'lock'));
    const refused = await operator(args);
    lock?.release();
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain(`Another process (pid ${process.pid}) has the data in ${data}`);
    const done = await operator(args);
    expect(done).toMatchObject({ code: 0, out: expect.stringContaining(': 1 project, ') });
  });

  it('to the key that is there, and from one that is not the right one', async () => {
    const { data, args, newKey } = copyOf('wrong');
    const named = () => readdirSync(data).filter((name) => !/^lock|-(?:shm|wal)$/.test(name));
    const files = named();
    const same = await operator(['rekey', '--new-key', join(data, 'master.key'), '--data', data]);
    expect(same).toMatchObject({
      code: 1,
      err: expect.stringContaining('already holds the current master key'),
    });
    const strange = join(root.path, 'strange.key');
    writeFileSync(strange, `${randomBytes(32).toString('base64')}\n`);
    const wrong = await operator(args, { SVC_MASTER_KEY_FILE: strange });
    expect(wrong).toMatchObject({ code: 1, out: '' });
    expect(wrong.err).toContain('was sealed with neither of the two keys');
    expect(wrong.err).not.toContain('    at ');
    const empty = join(root.path, 'empty.key');
    writeFileSync(empty, '\n');
    const none = await operator(['rekey', '--new-key', empty, '--data', data]);
    expect(none.err).toBe(`svc: ${empty} does not hold a 32-byte key in base64.\n`);
    const missing = await operator(args, { SVC_MASTER_KEY_FILE: join(root.path, 'no.key') });
    expect(missing).toMatchObject({ code: 1, err: expect.stringContaining('is missing') });
    expect(named()).toEqual(files);
    expect(existsSync(newKey)).toBe(true);
    expect((await operator(args)).code).toBe(0);
  });

  it('where a secret does not open, or a key file cannot be made, by their names', async () => {
    const { data, args } = copyOf('damaged');
    const place = await operator(['rekey', '--new-key', '/no/such/new.key', '--data', data]);
    expect(place.err).toContain('--new-key: no key can be made at /no/such/new.key');
    change(
      data,
      "UPDATE source SET secret = CAST(substr(secret, 1, 40) || x'00' AS BLOB) WHERE name = 'code'",
    );
    const refused = await operator(args);
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toMatch(/The secret of source \S+ of project \S+ is damaged/);
    expect(readdirSync(data)).not.toContain('rekeying');
    change(data, 'UPDATE channel SET address_hash = address_hash || 1');
    change(data, 'UPDATE source SET secret = NULL');
    const other = await operator(args);
    expect(other.err).toMatch(/The address_hash of channel \S+ of project \S+ is damaged/);
  });

  it('without data, with databases on a server, and without the name of a file', async () => {
    const { data, args } = copyOf('other');
    const none = await operator(['rekey', '--new-key', join(root.path, 'k'), '--data', root.path]);
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining('holds no gateway data') });
    expect(existsSync(join(root.path, 'k'))).toBe(false);
    const remote = await operator(args, { SVC_DATABASE_URL: 'http://{project}.localhost:1' });
    expect(remote).toMatchObject({ code: 1, err: expect.stringContaining('SVC_DATABASE_URL') });
    const nameless = await operator(['rekey', '--data', data]);
    expect(nameless).toMatchObject({ code: 1, err: expect.stringContaining('--new-key FILE') });
  });
});

/** A change that is interrupted at this point, or before it begins: answers what it ends with. */
function interruptedAt(
  { data, newKey }: { data: string; newKey: string },
  where: string | null,
): Promise<unknown> {
  const interrupting = new AbortController();
  if (where === null) interrupting.abort();
  return rekey({
    settings: readAdminSettings({}, { data }),
    newKeyFile: newKey,
    signal: interrupting.signal,
    onProgress: () => undefined,
    at: (point) => {
      if (point === where) interrupting.abort();
    },
  }).catch((error: unknown) => error);
}

describe('an interruption of a change of the master key', () => {
  it('ends it between two databases, and says what to do, also while it is repeated', async () => {
    const copy = copyOf('interrupted');
    const { data, args } = copy;
    const halfDone = 'until you run the same command to its end';
    for (const where of ['database done', null]) {
      const ended = await interruptedAt(copy, where);
      expect(ended).toBeInstanceOf(InterruptedRekeyError);
      expect(String(ended)).toContain(halfDone);
      expect(readdirSync(data)).toContain('rekeying');
    }
    expect((await operator(args)).code).toBe(0);
    expect(readdirSync(data)).not.toContain('rekeying');
  });

  it('names the new key that it leaves where nothing was changed yet', async () => {
    const copy = copyOf('interrupted-early');
    const { data, args, newKey } = copy;
    const ended = await interruptedAt(copy, null);
    expect(ended).toBeInstanceOf(InterruptedRekeyError);
    expect(String(ended)).toContain(`The new key stays in ${newKey}`);
    expect([existsSync(newKey), readdirSync(data).includes('rekeying')]).toEqual([true, false]);
    expect((await operator(args)).code).toBe(0);
  });
});

async function ask(url: string, method: 'GET' | 'PUT', path: string) {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${member.apiKey}`, 'content-type': 'application/json' },
    ...(method === 'PUT' && { body: '1' }),
  });
  return (await answer.json()) as Record<string, unknown>;
}

it('a replica goes on from where it was, and gets what was sealed anew', async () => {
  const { data, args } = copyOf('followed');
  const path = join(root.path, 'replica.db');
  const follow = async (url: string, epoch: unknown): Promise<StockClient> => {
    const syncUrl = `${url}/v1/replica/${String(epoch)}`;
    const client = await StockClient.open({ path, syncUrl, authToken: member.apiKey });
    await client.sync();
    return client;
  };
  const secret = 'SELECT hex(secret) FROM source';
  const first = await startGatewayProcess(data, 2);
  const { epoch } = await ask(first.url, 'GET', '/v1/replica');
  await ask(first.url, 'PUT', '/v1/kv/before');
  const old = await follow(first.url, epoch);
  const sealedBefore = await old.value(secret);
  await old.stop();
  await first.kill();
  expect((await operator(args)).code).toBe(0);

  const second = await startGatewayProcess(data, 2);
  try {
    expect(await ask(second.url, 'GET', '/v1/replica')).toMatchObject({ epoch });
    await ask(second.url, 'PUT', '/v1/kv/after');
    const again = await follow(second.url, epoch);
    try {
      const { position } = await ask(second.url, 'GET', '/v1/replica');
      const seq = "SELECT value FROM meta WHERE name = 'commit_seq'";
      expect(await again.value(seq)).toBe(position);
      expect(await again.rows('SELECT key FROM kv ORDER BY key')).toEqual([['after'], ['before']]);
      expect(await again.value(secret)).not.toBe(sealedBefore);
      expect(await again.value('PRAGMA integrity_check')).toBe('ok');
    } finally {
      await again.stop();
    }
  } finally {
    await second.kill();
  }
});
