import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { TestPeople } from '../../approvals/people.ts';
import { placeOf } from './places.ts';
import { linkFor, WebVisitor } from './web-visitor.ts';

const OWNER = 'owner@example.com';
const HOUR_MS = 3_600_000;
const approve = { verb: 'approve' } as const;

const clock = new FakeClock();
let gateway: TestGateway;
let people: TestPeople;
let visitor: WebVisitor;
let owner: string;
let ana: string;
let list: string;

beforeAll(async () => {
  gateway = await TestGateway.start({ clock });
  await gateway.gateway.setOwner(gateway.projectId, OWNER);
  people = await TestPeople.of(gateway, clock);
  owner = await people.owner();
  ana = await people.activeChannel('ana@example.com', 'ana');
  list = await placeOf(gateway, 'channels');
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  clock.advance(HOUR_MS);
  visitor = await WebVisitor.asOwner(gateway, OWNER);
  await say(ana, 'nobody');
});

async function say(channel: string, person: string) {
  await visitor.get(`${list}/${channel}`);
  return visitor.post(`${list}/${channel}`, { fields: { act: 'person', person } });
}

const personOf = async (id: string) =>
  (await people.channels()).find((one) => one.id === id)?.person_of;

describe('whose a channel is', () => {
  it("is said by an owner on the channel's page, shown there and by channel list, and counts", async () => {
    expect(await personOf(ana)).toBeNull();
    expect((await visitor.get(`${list}/${ana}`)).html).toContain('Whoever reads this mailbox');
    expect((await say(ana, owner)).status).toBe(303);
    expect(await personOf(ana)).toBe(owner);
    expect((await visitor.get(`${list}/${ana}`)).html).toContain('The same person as owner');
    expect((await visitor.get(list)).html).toContain('The same person as owner');
    expect((await people.ask({ approvals: 2 })).status).toBe(400);
    await say(ana, 'nobody');
    expect(await personOf(ana)).toBeNull();
    expect((await people.ask({ approvals: 2 })).status).toBe(200);
    const [entry] = await people.ledger('channel.person_set');
    expect(entry).toMatchObject({ subject: ana, actor: owner, platform: 'web' });
  });

  it('counts in requests that wait, too', async () => {
    const ben = await people.activeChannel('ben@example.com', 'ben');
    const request = await people.asked({ approvals: 2 });
    await say(ben, ana);
    await people.decide(request, approve, ana);
    expect((await people.status(request)).approvals.given).toHaveLength(1);
    expect((await people.decide(request, approve, ben))?.outcome).toBe('counted');
    expect((await people.status(request)).status).toBe('pending');
    await say(ben, 'nobody');
    await people.decide(request, approve, ben);
    expect((await people.status(request)).status).toBe('approved');
  });

  it.each(['chn_01j9z3k4m5n6p7q8r9s0t1v2w3', 'nonsense', "' OR 1=1"])(
    'is no channel that is not there: %s',
    async (person) => {
      const { status, html } = await say(ana, person);
      expect(status).toBe(409);
      expect(html).toContain('Nothing was changed.');
      expect(await personOf(ana)).toBeNull();
    },
  );

  it('is never said by a key: an agent could make one person two', async () => {
    const agent = new WebVisitor(gateway);
    await agent.enter(await linkFor(gateway, gateway.apiKey));
    const { html } = await agent.get(`${list}/${ana}`);
    expect(html).not.toContain('value="person"');
    const { status } = await agent.post(`${list}/${ana}`, {
      fields: { act: 'person', person: owner },
    });
    expect(status).toBe(409);
    expect(await personOf(ana)).toBeNull();
  });
});
