import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../shared/lib/clock.ts';
import { temporaryFolder, TestGateway } from '../../helpers/gateway.ts';
import { SharedStore } from '../../helpers/shared-store.ts';
import { TestPeople, refused, type Asked } from '../approvals/people.ts';
import { Pair } from './pair.ts';

interface Waited {
  readonly event: { readonly id: string } | null;
}

let pair: Pair;
afterEach(() => pair.stop());

const wait = (gateway: TestGateway, options: { key?: string } = {}) =>
  gateway.call<Waited>('GET', '/v1/inbox/wait?timeout_seconds=60', options);

async function waiting(gateway: TestGateway, count = 1): Promise<void> {
  const { waits } = await pair.project(gateway);
  await expect.poll(() => waits.size, { interval: 2 }).toBe(count);
}

describe('a wait on one gateway', () => {
  it('is answered by an event that came in through the other', async () => {
    pair = await Pair.start();
    const path = new URL(await pair.a.addSource({ name: 'open' })).pathname;
    await pair.acquainted();
    for (const [here, there] of [
      [pair.a, pair.b],
      [pair.b, pair.a],
    ] as const) {
      const held = wait(here);
      await waiting(here);
      const { body } = await there.deliver(there.url + path, `from ${there.url}`);
      expect((await held).body.event?.id).toBe(body['event_id']);
      const claim = { body: { event_id: body['event_id'] } };
      await there.call('POST', '/v1/inbox/claim', claim);
      await there.call('POST', '/v1/inbox/ack', claim);
    }
  });

  it('for a person ends when the other gateway takes the decision', async () => {
    pair = await Pair.start();
    const people = await TestPeople.of(pair.b, systemClock());
    const held = pair.b.call<Asked>('POST', '/v1/requests', {
      body: { action: 'deploy', summary: 'Deploy v2', wait_seconds: 60 },
    });
    await waiting(pair.b);
    const [request] = await people.project.store.read((store) =>
      store.requests.pending(Date.now()),
    );
    const link = await people.link(request?.id ?? '');
    await pair.a.gateway.approvals.decide(link, { verb: 'approve' });
    expect((await held).body).toMatchObject({ status: 'approved', request_id: request?.id });
  });

  it('ends when its key is revoked on the other', async () => {
    pair = await Pair.start();
    const made = await pair.a.call<{ id: string; api_key: string }>('POST', '/v1/keys', {
      body: { name: 'short', scopes: ['inbox:read'] },
    });
    const held = wait(pair.b, { key: made.body.api_key });
    await waiting(pair.b);
    await pair.a.call('DELETE', `/v1/keys/${made.body.id}`);
    expect(await held).toMatchObject(refused(401, 'KEY_REVOKED'));
  });

  it('is answered by an event of which the gateway does not know whether it was written', async () => {
    pair = await Pair.start();
    const path = new URL(await pair.a.addSource({ name: 'open' })).pathname;
    const held = wait(pair.b);
    await waiting(pair.b);
    pair.shared.server.faults.dropAnswers('commit', 1);
    const { status } = await pair.a.deliver(pair.a.url + path, 'one');
    expect(status).toBe(200);
    expect((await held).body.event).not.toBeNull();
  });
});

describe('a gateway that is alone', () => {
  it('asks the store nothing while somebody waits', async () => {
    const folder = temporaryFolder();
    const shared = await SharedStore.start(folder.path);
    const { store, masterKeyFile } = shared;
    const alone = await TestGateway.start({ store, masterKeyFile, folder: `${folder.path}/a` });
    try {
      const project = await alone.gateway.projects.find(alone.projectId);
      void alone.call<Waited>('GET', '/v1/inbox/wait?timeout_seconds=120').catch(() => undefined);
      await expect.poll(() => project?.waits.size).toBe(1);
      const name = alone.projectId.replace('_', '-');
      // What the start began may end meanwhile; who polls never has a second without a request.
      await expect
        .poll(async () => {
          shared.server.resetCounters();
          await sleep(1000);
          return shared.server.counters(name).requests;
        })
        .toBe(0);
      expect(project?.waits.size).toBe(1);
    } finally {
      await alone.stop();
      await shared.stop();
      folder.remove();
    }
  });
});
