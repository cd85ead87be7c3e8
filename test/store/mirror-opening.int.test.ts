import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ControlStore } from '../../gateway/store/control-store.ts';
import type { Connection } from '../../shared/store/engine/connection.ts';
import type { RemoteLocation } from '../../shared/store/engine/location.ts';
import { firstMigrations } from '../../shared/store/engine/migrate.ts';
import { openReader, openWriter } from '../../shared/store/engine/open.ts';
import { RemoteAuthority } from '../../shared/store/remote/authority.ts';
import { openClient } from '../../shared/store/remote/client.ts';
import { mirroring } from '../../shared/store/remote/mirror.ts';
import { CREATE_LOG_SQL } from '../../shared/store/remote/group-log.ts';
import { openRemoteReader } from '../../shared/store/remote/open.ts';
import { EmbeddedWriter } from '../../shared/store/engine/writer.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { startHrana, type HranaServer } from '../helpers/hrana/server.ts';
import { PATIENT } from '../helpers/shared-store.ts';

let server: HranaServer;
let folder: ReturnType<typeof temporaryFolder>;
beforeEach(async () => {
  folder = temporaryFolder();
  server = await startHrana({ ...PATIENT, folder: join(folder.path, 'server') });
  onTestFinished(folder.remove);
});
afterEach(() => server.stop());

const nothing = (): void => undefined;

/** A database on the server, as the gateway with this name has it. */
const at = (gateway: string, name = 'project'): RemoteLocation => ({
  kind: 'remote',
  url: server.urlOf(name),
  token: null,
  mirror: join(folder.path, gateway, 'project.db'),
});

/** The values of the first column, in the gateway's mirror and at the server. */
async function both(location: RemoteLocation, sql: string): Promise<unknown[][]> {
  const readers = [await openReader(location), openRemoteReader(location)];
  const found = readers.map(async (reader) => {
    const rows = await reader.read((tx) => tx.all(sql));
    await reader.close();
    return rows.map((row) => Object.values(row)[0]);
  });
  return Promise.all(found);
}

describe('a mirror that is damaged', () => {
  it.each([
    ['no database at all', 'nothing that SQLite knows'.repeat(1000)],
    ['empty', ''],
  ])('is copied again: %s', async (_what, content) => {
    const first = await openWriter(at('a'), 'project', { onFatal: nothing });
    await first.write((tx) => tx.put("INSERT INTO meta VALUES ('mine', 7)"));
    await first.close();
    const { mirror } = at('b');
    mkdirSync(dirname(mirror), { recursive: true });
    writeFileSync(mirror, content);
    const second = await openWriter(at('b'), 'project', { onFatal: nothing, isMade: true });
    expect(await both(at('b'), "SELECT value FROM meta WHERE name = 'mine'")).toEqual([[7], [7]]);
    await second.close();
  });
});

/** The schema before members: its migration makes the first member, of the owner's channel. */
const OLDER = 17;
const OWNER = `INSERT INTO channel (id, kind, label, status, owner, created_at, activated_at)
  VALUES ('chn_1', 'email', 'me', 'active', 1, '2026-01-01', '2026-01-01')`;
const MEMBERS = 'SELECT id FROM member';

async function olderAtServer(): Promise<void> {
  const client = openClient(at('server'));
  for (const text of firstMigrations('project', OLDER)) await client.executeMultiple(text);
  await client.executeMultiple(`PRAGMA user_version = ${OLDER}; ${CREATE_LOG_SQL}`);
  client.close();
}

function makeOlder(connection: Connection): void {
  if (connection.get('PRAGMA user_version')?.['user_version'] !== 0) return;
  for (const text of firstMigrations('project', OLDER)) connection.exec(text);
  connection.exec(`PRAGMA user_version = ${OLDER}`);
}

/** A gateway of the earlier release. */
async function older(gateway: string): Promise<EmbeddedWriter> {
  const location = at(gateway);
  const authority = new RemoteAuthority(openClient(location));
  const told = { onForeign: nothing, onUndone: nothing, onUncertain: nothing };
  const mirror = mirroring({ authority, ...told, onOutdated: nothing });
  mkdirSync(dirname(location.mirror), { recursive: true });
  const writer = new EmbeddedWriter(location.mirror, { onFatal: nothing, ...mirror }, makeOlder);
  await writer.resume();
  return writer;
}

async function newer(gateway: string): Promise<void> {
  const writer = await openWriter(at(gateway), 'project', { onFatal: nothing, isMade: true });
  onTestFinished(() => writer.close());
}

describe('a mirror of an earlier release', () => {
  beforeEach(olderAtServer);

  it('has the rows that the migration made of groups that it had not taken in', async () => {
    const [a, b] = [await older('a'), await older('b')];
    await a.close();
    await b.write((tx) => tx.put(OWNER));
    await b.close();
    await newer('a');
    expect(await both(at('a'), MEMBERS)).toEqual([['mbr_1'], ['mbr_1']]);
  });

  it('is migrated where it is when it has everything', async () => {
    const a = await older('a');
    await a.write((tx) => tx.put(OWNER));
    await a.close();
    server.resetCounters();
    await newer('a');
    // A copy takes hundreds of statements, one request each.
    expect(server.counters('project').requests).toBeLessThan(30);
    expect(await both(at('a'), MEMBERS)).toEqual([['mbr_1'], ['mbr_1']]);
  });

  it('has no rows that the migration did not make at the server', async () => {
    const a = await older('a');
    await newer('b');
    await a.write((tx) => tx.put(OWNER));
    await a.close();
    await newer('a');
    expect(await both(at('a'), MEMBERS)).toEqual([[], []]);
  });
});

/** The control database's schema before members. */
const OLDER_CONTROL = 9;
/** A person who has signed in and founded a project. */
const FOUNDED = `INSERT INTO account (id, address, address_hash, created_at) VALUES ('acc_1', x'00', 'h', '2026-01-01');
  INSERT INTO project (id, slug, name, state, created_at, account_id)
    VALUES ('prj_1', 'shop', 'Shop', 'active', '2026-01-01', 'acc_1');
  INSERT INTO known_network (account_id, network_hash, confirmed_at) VALUES ('acc_1', 'n', 1);
  UPDATE meta SET value = 1 WHERE name = 'commit_seq'`;

describe('the control database', () => {
  it('of an earlier release is migrated at the server, and copied with the people who signed in', async () => {
    const client = openClient(at('server', 'control'));
    for (const text of firstMigrations('control', OLDER_CONTROL))
      await client.executeMultiple(text);
    await client.executeMultiple(`PRAGMA user_version = ${OLDER_CONTROL}; ${FOUNDED}`);
    client.close();
    for (const gateway of ['a', 'b']) {
      const store = await ControlStore.open(at(gateway, 'control'), nothing);
      expect(await store.projects()).toMatchObject([{ id: 'prj_1' }]);
      expect(await store.accounts.find('acc_1')).toMatchObject({ id: 'acc_1' });
      await store.close();
    }
  });

  it('is copied as it is, even a row whose reference is gone', async () => {
    const first = await ControlStore.open(at('a', 'control'), nothing);
    const client = openClient(at('server', 'control'));
    await client.executeMultiple(`PRAGMA foreign_keys = OFF; ${FOUNDED}; DELETE FROM account`);
    client.close();
    await first.close();
    const second = await ControlStore.open(at('b', 'control'), nothing);
    expect(await second.projects()).toMatchObject([{ id: 'prj_1' }]);
    await second.close();
  });

  it('ends the process when its mirror is out of date, because nothing would ever answer again', async () => {
    const fatal: unknown[] = [];
    const mine = await ControlStore.open(at('a', 'control'), (error) => fatal.push(error));
    const other = await ControlStore.open(at('b', 'control'), nothing);
    await other.gateways.beat('gtw_b', 0);
    const client = openClient(at('a', 'control'));
    await client.execute('DELETE FROM group_log');
    client.close();
    await other.gateways.beat('gtw_b', 0);
    await expect(mine.gateways.beat('gtw_a', 0)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(fatal).toHaveLength(1);
    await mine.close();
    await other.close();
    const again = await ControlStore.open(at('a', 'control'), nothing);
    await again.gateways.beat('gtw_a', 0);
    await again.close();
  });
});
