import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import type { ReplicaReport } from '../../../daemon/record.ts';
import type { TestGateway } from '../../helpers/gateway.ts';
import { filesUnder } from '../../helpers/files.ts';
import { ReplicaDaemon } from '../../helpers/replica-daemon.ts';
import { Pair } from '../../gateway/cluster/pair.ts';
import { until } from './open-replica.ts';

const NEEDED = ['inbox:read', 'approvals', 'disk', 'ledger:read'];

let pair: Pair;
const daemons: ReplicaDaemon[] = [];

async function daemonOf(apiKey = pair.a.apiKey): Promise<ReplicaDaemon> {
  const daemon = await ReplicaDaemon.start(pair.a.url, { projectId: pair.a.projectId, apiKey });
  daemons.push(daemon);
  return daemon;
}

afterEach(async () => {
  for (const daemon of daemons.splice(0)) await daemon.stop();
  await pair.stop();
});

async function set(at: TestGateway, key: string): Promise<void> {
  const { status } = await at.call('PUT', `/v1/kv/${key}`, { body: key });
  expect(status).toBe(200);
}

function report(daemon: ReplicaDaemon, state: ReplicaReport['state']): Promise<ReplicaReport> {
  return until(
    () => daemon.replica(),
    (replica) => replica.state === state,
  );
}

describe('a daemon of a gateway whose databases are on a server', () => {
  it('answers reads from its replica, and sees what is written here and elsewhere', async () => {
    pair = await Pair.start();
    await set(pair.a, 'before');
    const daemon = await daemonOf();
    await daemon.until('local');
    const read = await daemon.call('GET', '/v1/kv/before');
    expect(read.body['value']).toBe('before');
    expect(read.headers.get('x-service-replica-age')).not.toBeNull();
    for (let n = 0; n < 5; n += 1) {
      expect((await daemon.call('PUT', '/v1/kv/own', { body: n })).status).toBe(200);
      expect((await daemon.call('GET', '/v1/kv/own')).body['value']).toBe(n);
    }
    await set(pair.b, 'theirs');
    const theirs = await until(
      () => daemon.call<Record<string, unknown> | null>('GET', '/v1/kv/theirs'),
      ({ body }) => body?.['value'] === 'theirs',
    );
    expect(theirs.headers.get('x-service-replica-age')).not.toBeNull();
    expect(await daemon.replica()).toMatchObject({ state: 'live', reads: 'local', detail: null });
  });

  it('wakes its waits for what another gateway takes in', async () => {
    pair = await Pair.start();
    const url = await pair.a.addSource({ name: 'shop', verification: 'none' });
    const daemon = await daemonOf();
    await daemon.until('local');
    const waiting = daemon.call<{ event: { id: string } | null }>(
      'GET',
      '/v1/inbox/wait?timeout_seconds=20',
    );
    await pair.b.deliver(url.replace(pair.a.url, pair.b.url), '{"n":1}');
    expect((await waiting).body.event).toMatchObject({
      id: expect.stringMatching(/^evt_/) as unknown,
    });
  });

  it('loses its replica with its key, also when another gateway revokes it', async () => {
    pair = await Pair.start();
    const { body } = await pair.a.call<{ id: string; api_key: string }>('POST', '/v1/keys', {
      body: { name: 'laptop', scopes: NEEDED },
    });
    await set(pair.a, 'one');
    const daemon = await daemonOf(body.api_key);
    await daemon.until('local');
    const files = filesUnder(daemon.folder).filter((path) => !path.endsWith('.sock'));
    const copy = files.find((path) => path.endsWith('/replica.db')) ?? '';
    expect(existsSync(copy)).toBe(true);
    await pair.b.call('DELETE', `/v1/keys/${body.id}`);
    expect(await report(daemon, 'refused')).toMatchObject({
      code: 'KEY_REVOKED',
      reads: 'gateway',
    });
    expect(existsSync(copy)).toBe(false);
  });
});
