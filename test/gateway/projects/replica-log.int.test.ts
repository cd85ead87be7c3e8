import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { LOCAL_INGRESS, type IngressConfig } from '../../../gateway/lib/ingress-config.ts';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';

const MIB = 1024 * 1024;
const RESERVE = 100 * MIB;

const clock = new FakeClock();
let gateway: TestGateway;
afterEach(() => gateway.stop());

async function start(ingress: Partial<IngressConfig>): Promise<void> {
  gateway = await TestGateway.start({ clock, ingress: { ...LOCAL_INGRESS, ...ingress } });
}

/** The archived logs of the project. */
function logs(): string[] {
  const folder = join(gateway.folder, 'projects', gateway.projectId, 'generations');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => name.endsWith('.wal'));
}

/** Archives as many logs as that, as for a replica that follows. */
async function archive(count: number): Promise<void> {
  const project = await gateway.gateway.projects.find(gateway.projectId);
  await project?.writes.follow();
  for (let n = 0; n < count; n += 1) {
    await gateway.call('PUT', '/v1/kv/a', { body: n });
    await project?.writes.rotate();
  }
}

const used = async (): Promise<unknown> =>
  (await gateway.call<{ replica_log: object }>('GET', '/v1/usage')).body.replica_log;

describe('the log that is kept for replicas', () => {
  it('is shown by usage, with what it may take', async () => {
    await start({});
    expect(await used()).toEqual({ stored_bytes: 0, limit_bytes: 256 * MIB });
    await archive(2);
    expect(logs()).toHaveLength(2);
    expect(await used()).toEqual({
      stored_bytes: expect.toSatisfy((bytes: number) => bytes > 4096),
      limit_bytes: 256 * MIB,
    });
  });

  it('takes no more than SVC_REPLICA_LOG_MB says, apart from its newest part', async () => {
    await start({ replicaLogBytes: 0 });
    await archive(4);
    expect(logs()).toHaveLength(1);
    expect(await used()).toMatchObject({ limit_bytes: 0 });
  });

  it('is given up when the disk is nearly full, before anybody is refused', async () => {
    let isReady = false;
    const diskProbe = async (): Promise<{ freeBytes: number; totalBytes: number }> => ({
      freeBytes: isReady && logs().length > 1 ? RESERVE - 1 : RESERVE,
      totalBytes: 10 * RESERVE,
    });
    await start({ diskReserveBytes: RESERVE, diskProbe });
    const hook = await gateway.addSource({ name: 'open' });
    await archive(3);
    expect(logs()).toHaveLength(3);
    isReady = true;
    clock.advance(2001);
    expect(await gateway.gateway.diskStatus()).toMatchObject({ level: 'ok' });
    expect(logs()).toHaveLength(1);
    expect(await gateway.deliver(hook, Buffer.from('{}'))).toMatchObject({ status: 200 });
  });
});
