import { afterEach, describe, expect, it } from 'vitest';
import { readMailConfig } from '../../gateway/mail/read-mail-config.ts';
import { operations } from '../../shared/operations/index.ts';
import { LOOPBACK } from '../gateway/callbacks/callback-receiver.ts';
import { TestPeople } from '../gateway/approvals/people.ts';
import { FakeClock, TestGateway } from '../helpers/gateway.ts';
import { prepared } from './preparations.ts';
import { startReceiver } from './receiver.ts';
import { World } from './scenario.ts';

interface Entry {
  readonly op: string;
  readonly actor?: string | null;
  readonly platform: string | null;
  readonly key_id: string | null;
}

let gateway: TestGateway;
afterEach(() => gateway.stop());

async function entriesOf(): Promise<readonly Entry[]> {
  const project = await gateway.gateway.projects.find(gateway.projectId);
  return project ? project.store.read(({ ledger }) => ledger.range(1, 100_000, 100_000)) : [];
}

const ID = /^(?:key|chn|mbr)_[0-9a-z]{26}$|^src_[0-9a-f]{24}$/;
const WORDS = /^(?:policy:[a-z0-9_-]+|operator|service)$/;

async function expectActors(): Promise<readonly Entry[]> {
  const entries = await entriesOf();
  const nameless = entries.filter(({ actor }) => !ID.test(actor ?? '') && !WORDS.test(actor ?? ''));
  expect(nameless).toEqual([]);
  for (const { actor, key_id } of entries) {
    expect(key_id).toBe(actor?.startsWith('key_') ? actor : null);
  }
  return entries;
}

describe('the ledger', () => {
  it('names who did it after every operation that writes', async () => {
    const mail = readMailConfig({ SVC_MAIL_DOMAIN: 'inbox.example' });
    const people = { mail, telegram: null };
    gateway = await TestGateway.start({ callbackAllow: LOOPBACK, signIn: true, messaging: people });
    const receiver = await startReceiver();
    const world = new World(gateway, receiver.url(), gateway.folder);
    const writing = operations.filter(
      ({ handler, name }) => handler.kind === 'write' && name !== 'project_delete',
    );
    for (const operation of writing)
      await world.run(operation.name, await prepared(operation, world));
    await receiver.stop();
    const ops = new Set((await expectActors()).map(({ op }) => op));
    const absent = writing.map(({ name }) => name).filter((name) => !ops.has(name));
    // It finds nothing to claim here.
    expect(absent.filter((name) => name !== 'inbox_next')).toEqual([]);
  });

  it('names who or what caused each transition', async () => {
    const clock = new FakeClock();
    gateway = await TestGateway.start({ clock });
    const people = await TestPeople.of(gateway, clock);
    const owner = await people.owner();
    const url = await gateway.addSource({ name: 'open' });
    const post = (path: string, body: object) => gateway.call('POST', path, { body });
    await gateway.deliver(url, '{"n":1}');
    await gateway.deliver(url, '{"n":2}');
    await post('/v1/inbox/next', { max: 2, timeout_seconds: 1, lease_seconds: 30 });
    clock.advance(60_000);
    await people.maintenance();
    const withdrawn = await people.asked();
    await post(`/v1/requests/${withdrawn}/withdraw`, {});
    await people.asked({ expires_in: '1m' });
    clock.advance(120_000);
    await people.maintenance();
    const small = { id: 'small', effect: 'auto_approve', action: 'deploy' };
    await people.setPolicy(small);
    await people.asked();
    const told = await people.asked({ action: 'other' });
    const { approvals } = gateway.gateway;
    await approvals.decide(await people.link(told), { verb: 'approve' }, 'telegram');
    await people.addChannel('ops@example.com');
    await gateway.gateway.operator.setSendBlock(gateway.projectId, 'Too much.');

    const entries = await expectActors();
    const ids = new Set(entries.map(({ key_id }) => key_id).filter((id) => id !== null));
    expect(ids.size).toBe(1);
    const [asker = ''] = ids;
    const by = (wanted: string) =>
      entries
        .filter(({ op }) => op === wanted)
        .map(({ actor, platform }) =>
          `${actor?.replace(/^src_.*/, 'src') ?? ''} ${platform ?? ''}`.trim(),
        );
    const found = await gateway.call<{ items: Entry[] }>('GET', '/v1/ledger?actor=policy:small');
    expect(found.body.items.map(({ op }) => op)).toEqual(['request.decided']);
    expect({
      received: by('event.received'),
      claimed: by('event.claimed'),
      ran: by('lease.expired'),
      withdrawn: by('request.withdrawn'),
      expired: by('request.expired'),
      decided: by('request.decided'),
      applied: by('policy.applied'),
      blocked: by('send.blocked'),
      owner: by('channel.owner_set'),
      created: by('key.created'),
    }).toEqual({
      received: ['src', 'src'],
      claimed: [`${asker} unknown`, `${asker} unknown`],
      ran: ['service', 'service'],
      withdrawn: [`${asker} unknown`],
      expired: ['service'],
      decided: [`${owner} link`, 'policy:small', `${owner} telegram`],
      applied: [`${owner} link`],
      blocked: ['operator'],
      owner: ['operator'],
      created: ['operator'],
    });
  });
});
