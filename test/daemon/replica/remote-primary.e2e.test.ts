import { existsSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import type { ReplicaReport } from '../../../daemon/record.ts';
import type { Replica } from '../../../daemon/replica/replica.ts';
import { filesUnder } from '../../helpers/files.ts';
import { ReplicaDaemon } from '../../helpers/replica-daemon.ts';
import { RemoteStage } from '../../gateway/replica/remote-stage.ts';
import { Door } from './door.ts';
import { caughtUp, openReplica, until, untilState } from './open-replica.ts';
import { valueOf } from './stage.ts';

const NEEDED = ['inbox:read', 'approvals', 'disk', 'ledger:read'];
const NO_REPLICAS = "This gateway's store doesn't support replicas.";

let stage: RemoteStage;
let door: Door;
const daemons: ReplicaDaemon[] = [];
const replicas: Replica[] = [];

async function open(options: { replication: boolean }): Promise<void> {
  stage = await RemoteStage.open(options);
  door = await Door.open(stage.gateway.url);
}

async function daemonOf(apiKey = stage.gateway.apiKey): Promise<ReplicaDaemon> {
  const { projectId } = stage.gateway;
  const daemon = await ReplicaDaemon.start(door.url, { projectId, apiKey });
  daemons.push(daemon);
  return daemon;
}

function replicaOf(timing: { askSeldomMs?: number } = {}): Replica {
  const { projectId, apiKey } = stage.gateway;
  const replica = openReplica({ url: door.url, projectId, apiKey }, stage.folder, { timing });
  replicas.push(replica);
  return replica;
}

afterEach(async () => {
  for (const daemon of daemons.splice(0)) await daemon.stop();
  for (const replica of replicas.splice(0)) await replica.close();
  await door.shut();
  await stage.end();
});

/** Where the project stands was asked so often. */
function questions(): number {
  return door.asked.filter((path) => path === '/v1/replica').length;
}

async function report(
  daemon: ReplicaDaemon,
  state: ReplicaReport['state'],
): Promise<ReplicaReport> {
  return until(
    () => daemon.replica(),
    (replica) => replica.state === state,
  );
}

describe('a daemon of a gateway whose databases are on a server', () => {
  it('answers reads from its copy, and sees what is written here and elsewhere', async () => {
    await open({ replication: true });
    const other = await stage.add();
    await stage.set('before');
    const daemon = await daemonOf();
    await daemon.until('local');
    const read = await daemon.call('GET', '/v1/kv/before');
    expect(read.body['value']).toBe('before');
    expect(read.headers.get('x-service-replica-age')).not.toBeNull();
    for (let n = 0; n < 5; n += 1) {
      expect((await daemon.call('PUT', '/v1/kv/own', { body: n })).status).toBe(200);
      expect((await daemon.call('GET', '/v1/kv/own')).body['value']).toBe(n);
    }
    await stage.set('theirs', { at: other });
    const theirs = await until(
      () => daemon.call<Record<string, unknown> | null>('GET', '/v1/kv/theirs'),
      ({ body }) => body?.['value'] === 'theirs',
    );
    expect(theirs.headers.get('x-service-replica-age')).not.toBeNull();
    expect(await daemon.replica()).toMatchObject({ state: 'live', reads: 'local', detail: null });
  });

  it('wakes its waits for what another gateway takes in', async () => {
    await open({ replication: true });
    const other = await stage.add();
    const url = await stage.gateway.addSource({ name: 'shop', verification: 'none' });
    const daemon = await daemonOf();
    await daemon.until('local');
    const waiting = daemon.call<{ event: { id: string } | null }>(
      'GET',
      '/v1/inbox/wait?timeout_seconds=20',
    );
    await other.deliver(url.replace(stage.gateway.url, other.url), '{"n":1}');
    expect((await waiting).body.event).toMatchObject({
      id: expect.stringMatching(/^evt_/) as unknown,
    });
  });

  it('loses its copy with its key, and never had the token of the database', async () => {
    await open({ replication: true });
    const { body } = await stage.gateway.call<{ id: string; api_key: string }>('POST', '/v1/keys', {
      body: { name: 'laptop', scopes: NEEDED },
    });
    await stage.set('one');
    const daemon = await daemonOf(body.api_key);
    await daemon.until('local');
    const files = filesUnder(daemon.folder).filter((path) => !path.endsWith('.sock'));
    const copy = files.find((path) => path.endsWith('/replica.db')) ?? '';
    expect(files.filter((path) => readFileSync(path).includes(stage.token))).toEqual([]);
    expect(existsSync(copy)).toBe(true);
    await stage.gateway.call('DELETE', `/v1/keys/${body.id}`);
    expect(await report(daemon, 'refused')).toMatchObject({
      code: 'KEY_REVOKED',
      reads: 'gateway',
    });
    expect(existsSync(copy)).toBe(false);
  });
});

describe('a daemon of a gateway whose store offers no replicas', () => {
  it('has everything done at the gateway, says why, and asks no more', async () => {
    await open({ replication: false });
    const daemon = await daemonOf();
    expect(await report(daemon, 'none')).toMatchObject({
      reads: 'gateway',
      position: null,
      detail: NO_REPLICAS,
      code: null,
    });
    const url = await stage.gateway.addSource({ name: 'shop', verification: 'none' });
    const waiting = daemon.call<{ event: unknown }>('GET', '/v1/inbox/wait?timeout_seconds=20');
    for (let n = 0; n < 10; n += 1) {
      expect((await daemon.call('PUT', '/v1/kv/one', { body: n })).status).toBe(200);
      const read = await daemon.call('GET', '/v1/kv/one');
      expect(read.body['value']).toBe(n);
      expect(read.headers.get('x-service-replica-age')).toBeNull();
    }
    await stage.gateway.deliver(url, '{"n":1}');
    expect((await waiting).body.event).not.toBeNull();
    expect(questions()).toBe(1);
    expect(door.asked.filter((path) => path.startsWith('/v1/replica'))).toHaveLength(1);
    expect(stage.front.asked).toEqual(['info']);
  });

  it('asks again after a while, and makes its copy when there are some', async () => {
    await open({ replication: true });
    stage.front.answer = () => ({ status: 404 });
    const replica = replicaOf({ askSeldomMs: 100 });
    await untilState(replica, 'none');
    await until(questions, (count) => count > 2);
    // The gateway does not ask the server each time.
    expect(stage.front.asked).toEqual(['info']);
    // One that was started since has not asked yet.
    stage.front.answer = () => null;
    door.target = (await stage.add()).url;
    door.cut();
    const position = await stage.set('one');
    await caughtUp(replica, position);
    expect(await valueOf(replica, 'one')).toBe('"one"');
  });

  it('any more removes the copy that it had', async () => {
    await open({ replication: true });
    const first = replicaOf();
    await caughtUp(first, await stage.set('one'));
    stage.front.answer = () => ({ status: 404 });
    door.cut();
    const { detail, position } = await untilState(first, 'none');
    expect([detail, position]).toEqual([NO_REPLICAS, null]);
    expect(first.store).toBeNull();
    expect(filesUnder(stage.folder).filter((path) => path.includes('/replica.db'))).toEqual([]);
  });
});

describe('a server in trouble', () => {
  it('leaves the copy, which goes on afterwards', async () => {
    await open({ replication: true });
    const replica = replicaOf();
    await caughtUp(replica, await stage.set('one'));
    const copies = stage.front.count('export/');
    stage.front.answer = () => ({ status: 503 });
    door.cut();
    const position = await stage.set('two');
    await until(questions, (count) => count > 3);
    expect(replica.store).not.toBeNull();
    stage.front.answer = () => null;
    await caughtUp(replica, position);
    expect(await valueOf(replica, 'two')).toBe('"two"');
    expect(stage.front.count('export/')).toBe(copies);
  });

  it('that goes back to an earlier generation has the copy made anew', async () => {
    await open({ replication: true });
    stage.front.answer = (what) =>
      what === 'info' ? { status: 200, body: { current_generation: 2 } } : null;
    const { epoch } = (await stage.gateway.call('GET', '/v1/replica')).body;
    stage.front.answer = () => null;
    const replica = replicaOf();
    await caughtUp(replica, await stage.set('one'));
    expect(replica.status.epoch).not.toBe(epoch);
    expect(await valueOf(replica, 'one')).toBe('"one"');
  });
});
