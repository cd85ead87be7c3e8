/* oxlint-disable unicorn/no-thenable -- the field has this name */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Choice } from '../../../gateway/approvals/approvals.ts';
import type { FakeTelegram } from '../../helpers/fake-telegram.ts';
import { FakeClock, type TestGateway } from '../../helpers/gateway.ts';
import { visit } from '../../helpers/page-visitor.ts';
import type { FakePerson } from '../../helpers/telegram-person.ts';
import { startWithBot, TestPeople } from './people.ts';

const SOON = { interval: 5, timeout: 60_000 } as const;
const approve = { verb: 'approve' } as const;
const deny = { verb: 'deny' } as const;
const OWN: Choice = { verb: 'option', index: 0 };
const NEW: Choice = { verb: 'option', index: 1 };

let clock: FakeClock;
let telegram: FakeTelegram;
let test: TestGateway;
let people: TestPeople;
let owner: string;

beforeEach(async () => {
  clock = new FakeClock();
  ({ test, telegram } = await startWithBot(clock));
  await test.gateway.setOwner(test.projectId, 'owner@example.com');
  people = await TestPeople.of(test, clock);
  owner = await people.owner();
});
afterEach(async () => {
  await test.stop();
  await telegram.stop();
});

/** A person's chat, let in by the owner with these words. */
async function chat(person: FakePerson, said: Choice): Promise<string> {
  const id = await people.chat(person, said);
  expect((await people.channels()).find((one) => one.id === id)?.status).toBe('active');
  return id;
}

/** Presses a button of the message that asks a person. */
async function taps(person: FakePerson, label: string): Promise<void> {
  const asking = () =>
    person.received.find(({ buttons }) => buttons.flat().some(({ text }) => text.includes(label)));
  await expect.poll(asking, SOON).toBeDefined();
  const message = asking();
  const before = person.toasts.length;
  if (message) person.taps(message, label);
  await expect.poll(() => person.toasts.length, SOON).toBe(before + 1);
}

const given = async (request: string) =>
  (await people.status(request)).approvals.given.map(({ channel_id: id }) => id);

/** How many people can be asked, as the refusal says. */
async function reachable(approvers?: readonly string[]): Promise<string | undefined> {
  const { body } = await people.ask({ approvals: 5, ...(approvers && { approvers }) });
  const fields = body.error?.details?.['fields'] as { message: string }[] | undefined;
  return /only (\d) can be asked/.exec(fields?.[0]?.message ?? '')?.[1];
}

describe('one person with several channels', () => {
  it.each(['OWNER@example.com', 'Owner+deploys@EXAMPLE.com', 'owner+x@example.com'])(
    'the owner by mail and again as %s is one approval of two',
    async (spelling) => {
      const again = await people.activeChannel(spelling, 'again');
      const ana = await people.activeChannel('ana@example.com', 'ana');
      const request = await people.asked({ approvals: 2 });
      await people.decide(request, approve, owner);
      expect((await people.decide(request, approve, again))?.outcome).toBe('counted');
      expect((await people.status(request)).status).toBe('pending');
      expect(await given(request)).toEqual([owner]);
      expect(await people.ledger('request.voted')).toHaveLength(1);
      await people.decide(request, approve, ana);
      expect((await people.status(request)).status).toBe('approved');
      expect(await given(request)).toEqual([owner, ana].toSorted());
    },
  );

  it('dots and both names of Gmail are one mailbox', async () => {
    const one = await people.activeChannel('a.na@gmail.com', 'one');
    const two = await people.activeChannel('an.a+svc@googlemail.com', 'two');
    expect(await reachable([one, two])).toBe('1');
    expect(await reachable([one, two, owner])).toBe('2');
  });

  it('a request that only one person could approve is refused, with the reason', async () => {
    const again = await people.activeChannel('OWNER@example.com', 'again');
    const { body } = await people.ask({ approvals: 2, approvers: [owner], then: [again] });
    expect(body.error?.details?.['fields']).toEqual([
      {
        path: 'approvals',
        message:
          "2 people must approve, but only 1 can be asked. Of the 2 channels, those of one person count once, and a Telegram chat counts only if the owner said whose it is, on the channel's page in the web inbox.",
      },
    ]);
  });

  it('their denial takes back what they approved elsewhere', async () => {
    const again = await people.activeChannel('OWNER@example.com', 'again');
    await people.activeChannel('ana@example.com', 'ana');
    const request = await people.asked({ approvals: 2 });
    await people.decide(request, approve, owner);
    await people.decide(request, deny, again);
    expect(await people.status(request)).toMatchObject({
      status: 'denied',
      approvals: { given: [] },
    });
  });

  it('the page of the other channel says that they approved, and they get no reminder', async () => {
    const again = await people.activeChannel('OWNER@example.com', 'again');
    await people.activeChannel('ana@example.com', 'ana');
    const request = await people.asked({ approvals: 2, remind: '1h' });
    await people.decide(request, approve, owner);
    const page = await (await fetch(`${test.url}/a/${await people.link(request, again)}`)).text();
    expect(page).toContain('You approved this at');
    expect(page).not.toContain('value="approve"');
    clock.advance(3_600_000);
    await people.maintenance();
    const reminded = async () =>
      (await people.status(request)).notified
        .filter(({ channel_id: id, status }) => status === 'void' && [owner, again].includes(id))
        .map(({ channel_id: id }) => id);
    await expect
      .poll(async () => (await reminded()).toSorted(), SOON)
      .toEqual([owner, again].toSorted());
  });
});

describe('a Telegram chat', () => {
  let ana: FakePerson;
  beforeEach(() => {
    ana = telegram.person(4711, 'Ana');
  });

  it("the owner's own is the owner", async () => {
    const own = await chat(ana, OWN);
    const ben = await people.activeChannel('ben@example.com', 'ben');
    expect(await reachable()).toBe('2');
    const request = await people.asked({ approvals: 2 });
    await taps(ana, 'Approve');
    await people.decide(request, approve, owner);
    expect((await people.status(request)).status).toBe('pending');
    expect(await given(request)).toEqual([own]);
    await people.decide(request, approve, ben);
    expect((await people.status(request)).status).toBe('approved');
  });

  it('of a person whom no other channel reaches is a second one', async () => {
    await chat(ana, NEW);
    const request = await people.asked({ approvals: 2 });
    await taps(ana, 'Approve');
    await people.decide(request, approve, owner);
    expect((await people.status(request)).status).toBe('approved');
  });

  it('that the owner only let in counts beside nobody', async () => {
    const unknown = await chat(ana, approve);
    expect(await reachable()).toBe('1');
    const ben = await people.activeChannel('ben@example.com', 'ben');
    const request = await people.asked({ approvals: 2 });
    await taps(ana, 'Approve');
    expect(await given(request)).toEqual([unknown]);
    await people.decide(request, approve, owner);
    expect((await people.status(request)).status).toBe('pending');
    expect(await given(request)).toEqual([owner]);
    await people.decide(request, approve, ben);
    expect((await people.status(request)).status).toBe('approved');
  });

  it('counts again once the one who might be the same is removed', async () => {
    const unknown = await chat(ana, approve);
    const ben = await people.activeChannel('ben@example.com', 'ben');
    const request = await people.asked({ approvals: 2, approvers: [unknown, ben, owner] });
    await taps(ana, 'Approve');
    await people.decide(request, approve, ben);
    expect(await given(request)).toEqual([ben]);
    await people.removeChannel(ben);
    expect(await given(request)).toEqual([unknown]);
  });

  it('whose owner has another address now is nobody in particular', async () => {
    const own = await chat(ana, OWN);
    await test.gateway.setOwner(test.projectId, 'successor@example.com');
    expect(await reachable([owner, own])).toBe('1');
    const ben = await people.activeChannel('ben@example.com', 'ben');
    expect(await reachable([ben, own])).toBe('1');
  });

  it('from before anybody was asked whose it is counts as soon as the owner says so', async () => {
    const old = await chat(ana, approve);
    const ben = await people.activeChannel('ben@example.com', 'ben');
    const request = await people.asked({ approvals: 2, approvers: [old, ben, owner] });
    await taps(ana, 'Approve');
    await people.decide(request, approve, ben);
    expect((await people.status(request)).status).toBe('pending');
    const said = { channelId: old, personOf: old, by: owner, now: clock.now() };
    expect(await people.project.writes.run('sayWhose', said)).toBe(true);
    expect((await people.status(request)).status).toBe('approved');
    expect(await given(request)).toEqual([old, ben].toSorted());
    expect(await reachable([old, owner])).toBe('2');
  });

  it('of somebody with an address counts as theirs, once the owner says the same person', async () => {
    const ben = await people.activeChannel('ben@example.com', 'ben');
    const own = await chat(ana, { verb: 'option', index: 2 });
    expect((await people.channels()).find(({ id }) => id === own)?.person_of).toBe(ben);
    const request = await people.asked({ approvals: 2 });
    await taps(ana, 'Approve');
    expect(await given(request)).toEqual([own]);
    expect((await people.decide(request, approve, ben))?.outcome).toBe('counted');
    expect((await people.status(request)).status).toBe('pending');
    await people.decide(request, approve, owner);
    expect((await people.status(request)).status).toBe('approved');
  });

  it('of somebody who had no other channel is one person with the address they get later', async () => {
    const own = await chat(ana, NEW);
    const later = await people.activeChannel('ana@example.com', 'ana', {
      verb: 'option',
      index: 1,
    });
    expect(await reachable([own, later])).toBe('1');
    expect(await reachable([own, later, owner])).toBe('2');
  });

  it('asks the owner on the page whose it is', async () => {
    const added = async () =>
      await test.call('POST', '/v1/channels', { body: { kind: 'telegram' } });
    await expect.poll(async () => (await added()).status, SOON).toBe(201);
    const { body } = await added();
    const { start_url: url } = body as unknown as { start_url: string };
    ana.says(`/start ${new URL(url).searchParams.get('start') ?? ''}`);
    await expect.poll(() => people.askedToLetIn(), SOON).not.toBe('');
    const request = await people.askedToLetIn();
    const link = `${test.url}/a/${await people.link(request, owner)}`;
    expect(await visit(link, { button: 'My own channel' })).toContain('Approve');
    expect(await people.status(request)).toMatchObject({
      status: 'modified',
      decision: 'My own channel',
    });
  });
});

it("another address of the owner's is the owner's once they say so", async () => {
  const home = await people.activeChannel('me@home.example', 'home', OWN);
  expect(await reachable([owner, home])).toBe('1');
});
