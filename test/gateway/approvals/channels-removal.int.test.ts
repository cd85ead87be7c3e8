import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { newId, newToken } from '../../../shared/lib/ids.ts';
import type { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { mailsOf, tokensOf } from '../../helpers/outbox.ts';
import { writerOf } from '../../helpers/writers.ts';
import { eachWithPeople, type TestPeople, refused } from './people.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const ANA = 'Ana.Lovelace@Example.com';
const NOBODY = `chn_${'0'.repeat(26)}`;
const iso = (ms: number): string => new Date(ms).toISOString();

let test: TestGateway;
let clock: FakeClock;
let people: TestPeople;
let owner: string;
eachWithPeople((made) => ({ test, clock, people, owner } = made));

const approvals = () => test.gateway.approvals;

/** A channel whose address is confirmed, and the request to let it in. */
async function verified(address = ANA): Promise<{ id: string; request: string }> {
  const before = tokensOf(test.folder, 'c').length;
  const { body } = await people.addChannel(address);
  await approvals().verifyEmail(await people.confirmLink(before));
  return { id: body.channel.id, request: await people.askedToLetIn() };
}

const statusOf = async (id: string) =>
  (await people.channels()).find((one) => one.id === id)?.status;

describe('channel_remove', () => {
  it('protects the owner, and knows its own channels alone', async () => {
    expect(await people.removeChannel(owner)).toMatchObject(
      refused(409, 'CHANNEL_OWNER_PROTECTED'),
    );
    expect(await people.removeChannel(NOBODY)).toMatchObject(refused(404, 'NOT_FOUND'));
    const { apiKey } = await test.gateway.createProject({ name: 'Second', slug: 'second' });
    const ana = await people.activeChannel(ANA);
    const foreign = await test.call('DELETE', `/v1/channels/${ana}`, { key: apiKey });
    expect(foreign).toMatchObject(refused(404, 'NOT_FOUND'));
    clock.advance(MINUTE);
    const removed = await people.removeChannel(ana);
    expect(removed).toMatchObject({ status: 200 });
    expect(removed.body).toEqual({ id: ana, status: 'removed', removed_at: iso(clock.now()) });
    expect(await people.removeChannel(ana)).toMatchObject(refused(404, 'NOT_FOUND'));
    expect(await people.channels()).toHaveLength(1);
  });

  it('kills links, and moves what is pending to the owner', async () => {
    const [ana, ben] = [await people.activeChannel(ANA), await people.activeChannel('ben@b.com')];
    const alone = await people.asked({ approvers: [ana] });
    const both = await people.asked({ approvers: [ana, ben] });
    const all = await people.asked();
    const done = await people.asked({ approvers: [ana] });
    const links = await Promise.all([alone, both, all, done].map((id) => people.link(id, ana)));
    // A mail is there a moment before it is written down that it was sent.
    const told = async () => (await people.status(done)).notified;
    await expect.poll(told).toMatchObject([{ status: 'sent' }]);
    await people.decide(done, { verb: 'deny' }, ana);
    await people.removeChannel(ana);
    for (const link of links) {
      expect(await approvals().open(link)).toBeNull();
      expect(await approvals().decide(link, { verb: 'approve' })).toBeNull();
      expect((await fetch(`${test.url}/a/${link}`)).status).toBe(404);
    }
    const approversOf = async (id: string) => (await people.status(id)).approvers;
    expect(await approversOf(alone)).toEqual([owner]);
    expect(await approversOf(both)).toEqual([ben, owner]);
    expect(await approversOf(all)).toEqual([owner, ben]);
    expect(await people.status(done)).toMatchObject({
      approvers: [ana],
      status: 'denied',
      decided_by: `channel:${ana}`,
      notified: [{ channel_id: ana, kind: 'email', status: 'sent' }],
    });
    for (const id of [alone, both, all]) {
      expect((await people.decide(id, { verb: 'approve' }, owner))?.outcome).toBe('taken');
    }
    // The owner was asked once about each.
    const { notified } = await people.status(all);
    expect(notified.map(({ channel_id }) => channel_id)).toEqual([owner, ana, ben]);
  });

  it('of a channel that waits for the owner is the end of that question', async () => {
    const { id, request } = await verified();
    const link = await people.link(request);
    await people.removeChannel(id);
    expect(await people.status(request)).toMatchObject({
      status: 'denied',
      decided_by: null,
      hint: expect.stringMatching(/^withdrawn/),
    });
    expect((await approvals().decide(link, { verb: 'approve' }))?.outcome).toBe('late');
    expect(await statusOf(id)).toBeUndefined();
    expect(await people.ledger('channel.removed')).toHaveLength(1);
    expect(await people.events()).toMatchObject([{ request_id: request, status: 'denied' }]);
  });

  it('is done once where the question has expired, and nobody has written that down', async () => {
    const { id, request } = await verified();
    clock.advance(7 * DAY);
    await people.removeChannel(id);
    await people.maintenance();
    expect((await people.status(request)).status).toBe('expired');
    expect(await people.ledger('channel.removed')).toHaveLength(1);
    expect(await people.ledger('channel.activated')).toEqual([]);
  });
});

describe('the owner', () => {
  it('who moves to another address takes the questions along, and old links are dead', async () => {
    const open = await people.asked();
    const done = await people.asked();
    const old = [await people.link(open), await people.link(done)];
    await people.decide(done, { verb: 'approve' });
    await test.gateway.setOwner(test.projectId, 'new@example.com');
    for (const link of old) expect(await approvals().open(link)).toBeNull();
    expect(await approvals().decide(old[0] ?? '', { verb: 'approve' })).toBeNull();
    expect(await people.owner()).toBe(owner);
    const mails = () => mailsOf(test.folder).filter((mail) => mail.includes('To: new@example.com'));
    await expect.poll(mails).toHaveLength(1);
    const fresh = tokensOf(test.folder, 'a').at(-1) ?? '';
    expect((await approvals().decide(fresh, { verb: 'approve' }))?.outcome).toBe('taken');
    expect((await people.status(open)).decided_by).toBe(`channel:${owner}`);
    // Said again, it is nothing new.
    await test.gateway.setOwner(test.projectId, 'new@EXAMPLE.com');
    expect((await approvals().open(fresh))?.request.status).toBe('approved');
    expect(await people.ledger('channel.owner_set')).toHaveLength(2);
  });

  it('may take the address of a channel, which is gone then', async () => {
    const { id, request } = await verified();
    const ben = await people.activeChannel('ben@b.com');
    const asked = await people.asked({ approvers: [ben] });
    await test.gateway.setOwner(test.projectId, 'ben@b.com');
    expect((await people.channels()).map((one) => one.id)).toEqual([owner, id]);
    expect((await people.status(asked)).approvers).toEqual([owner]);
    await test.gateway.setOwner(test.projectId, ANA);
    expect((await people.channels()).map((one) => one.id)).toEqual([owner]);
    expect(await people.status(request)).toMatchObject({ status: 'denied', decided_by: null });
    expect((await people.channels())[0]?.address).toBe('A***@example.com');
  });
});

/** As channel_add leaves it where there is a bot. */
async function started(): Promise<{ id: string; token: string }> {
  const id = newId('chn', clock.now());
  const token = newToken(test.projectId);
  const none = { address: null, address_hash: null, masked: null, created_by: null };
  const never = { verified_at: null, activated_at: null, last_used_at: null, person_of: null };
  await writerOf(people.project).write(async ({ channels }) => {
    const created_at = iso(clock.now());
    const state = { kind: 'telegram', label: 'ops', status: 'added', owner: 0 } as const;
    await channels.insert({ id, ...state, ...none, ...never, created_at });
    const now = clock.now();
    await channels.setToken(id, { hash: hash('sha256', token), expiresAt: now + MINUTE, now });
  });
  return { id, token };
}

describe('a channel by Telegram', () => {
  const ANA_CHAT = { chatId: 41, userId: 42, name: 'Ana \0\ud800' };

  it('is let in by the owner, who is told the name that Telegram shows', async () => {
    const { id, token } = await started();
    expect(await approvals().verifyEmail(token)).toBeNull();
    expect(await approvals().openChannel(token)).toBeNull();
    const view = await approvals().startTelegram(token, ANA_CHAT);
    expect(view).toMatchObject({ label: 'ops', status: 'verified', address: '' });
    const request = await people.askedToLetIn();
    expect(await people.status(request)).toMatchObject({
      summary: 'Let ops decide, by telegram',
      details: 'The name that Telegram shows: Ana \ufffd',
    });
    await people.decide(request, { verb: 'approve' });
    expect((await people.channels()).at(-1)).toMatchObject({ id, status: 'active', address: null });
    // The same person in the same chat is no second channel.
    const second = await started();
    expect(await approvals().startTelegram(second.token, ANA_CHAT)).toBeNull();
    expect(await statusOf(second.id)).toBe('added');
    const other = await approvals().startTelegram(second.token, { ...ANA_CHAT, userId: 43 });
    expect(other?.status).toBe('verified');
  });

  it('whose link nobody opened in time is forgotten', async () => {
    const { id, token } = await started();
    clock.advance(MINUTE);
    expect(await approvals().startTelegram(token, ANA_CHAT)).toBeNull();
    await people.maintenance();
    expect(await statusOf(id)).toBeUndefined();
  });
});
