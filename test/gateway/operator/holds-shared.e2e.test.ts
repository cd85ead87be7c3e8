import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MigrationService } from '../../../gateway/operator/migration-service.ts';
import { gatewayIdIn } from '../../../gateway/cluster/gateway-id.ts';
import { Databases } from '../../../gateway/store/databases.ts';
import { openWriter } from '../../../shared/store/engine/open.ts';
import { openRemoteReader } from '../../../shared/store/remote/open.ts';
import { TestGateway, temporaryFolder } from '../../helpers/gateway.ts';
import { SharedStore } from '../../helpers/shared-store.ts';
import { operator } from '../admin/operator.ts';

const OTHER = {
  code: 'PRECONDITION_FAILED',
  hint: "1 other gateway uses this store and wouldn't notice. Stop all but one first, and start them again afterwards. A killed gateway still counts for 15 seconds.",
  details: { other_gateways: 1 },
};

let root: ReturnType<typeof temporaryFolder>;
let shared: SharedStore;
let running: Set<TestGateway>;
let first: TestGateway;
let moves: MigrationService;
let name: string;

async function start(folder: string): Promise<TestGateway> {
  const { store, masterKeyFile } = shared;
  const gateway = await TestGateway.start({
    folder: join(root.path, folder),
    store,
    masterKeyFile,
  });
  running.add(gateway);
  return gateway;
}

async function stop(gateway: TestGateway): Promise<void> {
  running.delete(gateway);
  await gateway.stop({ keepFolder: true });
}

beforeEach(async () => {
  root = temporaryFolder();
  shared = await SharedStore.start(root.path);
  running = new Set();
  first = await start('a');
  moves = first.gateway.operator.moves;
  name = first.projectId;
});
afterEach(async () => {
  for (const gateway of running) await stop(gateway);
  await shared.stop();
  root.remove();
});

const put = (gateway: TestGateway) =>
  gateway.call('PUT', '/v1/kv/a', { body: 1, key: first.apiKey });
const get = (gateway: TestGateway) => gateway.call('GET', '/v1/kv/a', { key: first.apiKey });

/** A command in a data folder that no gateway has. */
function command(...args: string[]) {
  const { store, masterKeyFile } = shared;
  const data = join(root.path, 'c');
  mkdirSync(data, { recursive: true });
  const env = { SVC_DATABASE_URL: store.url, SVC_MASTER_KEY_FILE: masterKeyFile };
  return operator([...args, '--data', data], env);
}

describe('a project of a store that several gateways share', () => {
  it('is not held, released or closed while others live, who would not notice', async () => {
    const second = await start('b');
    const orders = [
      () => moves.hold(name),
      () => moves.release(name),
      () => moves.leave(name, { to: null, receipt: null }),
      () => second.gateway.operator.moves.hold(name),
    ];
    for (const order of orders) await expect(order()).rejects.toMatchObject(OTHER);
    expect([(await put(first)).status, (await put(second)).status]).toEqual([200, 200]);
  });

  it('is held by one that is alone, and those that start later see it', async () => {
    await put(first);
    expect(await moves.hold(name)).toMatchObject({ state: 'held', changed: true });
    const second = await start('b');
    expect([(await put(second)).status, (await get(second)).status]).toEqual([503, 200]);
    await expect(moves.release(name)).rejects.toMatchObject(OTHER);
    // It says that it leaves: nobody has to wait for that.
    await stop(second);
    expect(await moves.release(name)).toMatchObject({ state: 'active', changed: true });
    expect((await put(first)).status).toBe(200);
  });

  it('is told to have moved by all that start later', async () => {
    await moves.hold(name);
    await moves.leave(name, { to: 'https://svc.example.com', receipt: null });
    const { body } = await put(await start('b'));
    expect(JSON.stringify(body)).toContain('has moved to https://svc.example.com.');
  });

  it('is exported beside them, and not held by that', async () => {
    const folder = join(root.path, 'export');
    const held = await command('export', name, folder, '--hold');
    expect([held.code, held.err]).toEqual([1, `svc: ${OTHER.hint}\n`]);
    expect(existsSync(folder)).toBe(false);
    expect((await put(first)).status).toBe(200);
    const made = await command('export', name, folder, '--json');
    expect(JSON.parse(made.out)).toMatchObject({ project: { id: name }, held: false });
  });

  it('is held without a gateway once those that were killed have been silent', async () => {
    await stop(first);
    const { control } = new Databases(root.path, shared.store);
    const writer = await openWriter(control, 'control', { onFatal: () => undefined });
    await writer.write((tx) =>
      tx.run("INSERT INTO gateway (id, beat, started_at) VALUES ('gtw_killed', 7, 0)"),
    );
    await writer.close();
    const { out } = await command('export', name, join(root.path, 'export'), '--hold', '--json');
    expect(JSON.parse(out)).toMatchObject({ project: { id: name }, held: true });
  });

  it('is looked after by one that runs when a command took it in', async () => {
    const folder = join(root.path, 'export');
    await command('export', name, folder, '--json');
    const other = temporaryFolder();
    const fresh = await SharedStore.start(other.path);
    const { store } = fresh;
    const { masterKeyFile } = shared;
    const runs = join(other.path, 'runs');
    const gateway = await TestGateway.start({ folder: runs, store, masterKeyFile });
    const env = { SVC_DATABASE_URL: store.url, SVC_MASTER_KEY_FILE: masterKeyFile };
    const taken = await operator(['import', folder, '--data', join(other.path, 'no')], env);
    expect([taken.code, taken.out]).toEqual([0, expect.stringContaining('It is active here.')]);
    const { control: location } = new Databases(runs, store);
    if (location.kind === 'file') throw new Error('It is on a server.');
    const control = openRemoteReader(location);
    const keepers = () =>
      control.read((tx) =>
        tx.all('SELECT gateway_id FROM project_work WHERE project_id = ?', [name]),
      );
    await expect.poll(keepers).toEqual([{ gateway_id: gatewayIdIn(runs) }]);
    expect((await put(gateway)).status).toBe(200);
    await control.close();
    await gateway.stop({ keepFolder: true });
    await fresh.stop();
    other.remove();
  });
});
