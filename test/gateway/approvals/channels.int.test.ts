import { describe, expect, it } from 'vitest';
import type { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { mailsOf, tokensOf } from '../../helpers/outbox.ts';
import { eachWithPeople, type TestPeople, refused } from './people.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const ANA = 'Ana.Lovelace@Example.com';
const iso = (ms: number): string => new Date(ms).toISOString();

let test: TestGateway;
let clock: FakeClock;
let people: TestPeople;
let owner: string;
eachWithPeople((made) => ({ test, clock, people, owner } = made));

const approvals = () => test.gateway.approvals;
const post = (body: Record<string, unknown>) => test.call('POST', '/v1/channels', { body });

/** A channel whose address is confirmed, and the request to let it in. */
async function verified(address = ANA): Promise<{ id: string; request: string }> {
  const before = tokensOf(test.folder, 'c').length;
  const { body } = await people.addChannel(address);
  await approvals().verifyEmail(await people.confirmLink(before));
  return { id: body.channel.id, request: await people.askedToLetIn() };
}

const statusOf = async (id: string) =>
  (await people.channels()).find((one) => one.id === id)?.status;

describe('a channel by email', () => {
  it('is added, confirmed by its link, let in by the owner, and asked from then on', async () => {
    const added = await post({ kind: 'email', address: ANA, label: 'ana' });
    expect(added.status).toBe(201);
    const channel = {
      id: expect.stringMatching(/^chn_[0-9a-z]{26}$/),
      kind: 'email',
      label: 'ana',
      address: 'A***@example.com',
      status: 'added',
      owner: false,
      created_at: iso(clock.now()),
      created_by: expect.stringMatching(/^key_/),
      maker: 'key admin',
      verified_at: null,
      activated_at: null,
      last_used_at: null,
      person_of: null,
    };
    expect(added.body).toEqual({
      channel,
      verification_sent_to: 'A***@example.com',
      expires_at: iso(clock.now() + DAY),
    });
    const { id } = added.body['channel'] as { id: string };
    const link = await people.confirmLink();
    expect(mailsOf(test.folder)[0]).toContain('To: Ana.Lovelace@example.com');
    // Looking confirms nothing, as scanners of mail look.
    for (let round = 0; round < 3; round += 1) {
      expect(await approvals().openChannel(link)).toMatchObject({ label: 'ana', status: 'added' });
      expect((await fetch(`${test.url}/c/${link}`)).status).toBe(200);
    }
    expect(await statusOf(id)).toBe('added');
    expect(await people.ask({ approvers: [id] })).toMatchObject(
      refused(409, 'CHANNEL_NOT_VERIFIED'),
    );

    clock.advance(MINUTE);
    expect(await approvals().verifyEmail(link)).toMatchObject({ status: 'verified' });
    expect(await people.ask({ approvers: [id] })).toMatchObject(
      refused(409, 'CHANNEL_NOT_VERIFIED'),
    );
    expect((await people.status(await people.asked())).approvers).toEqual([owner]);
    const request = await people.askedToLetIn();
    expect(await people.status(request)).toMatchObject({
      kind: 'channel',
      status: 'pending',
      action: 'channel_add',
      summary: 'Let ana decide, by email at A***@example.com',
      risk: 'high',
      approvers: [owner],
    });

    clock.advance(MINUTE);
    await people.decide(request, { verb: 'approve' });
    expect((await people.channels()).at(-1)).toEqual({
      ...channel,
      status: 'active',
      verified_at: iso(clock.now() - MINUTE),
      activated_at: iso(clock.now()),
    });
    const asked = await people.asked();
    expect((await people.status(asked)).approvers).toEqual([owner, id]);
    clock.advance(MINUTE);
    expect((await people.decide(asked, { verb: 'approve' }, id))?.outcome).toBe('taken');
    expect((await people.status(asked)).decided_by).toBe(`channel:${id}`);
    expect((await people.channels()).at(-1)).toMatchObject({ last_used_at: iso(clock.now()) });
    const opened = await approvals().open(await people.link(asked, owner));
    expect(opened?.request.decidedBy).toBe('ana');
    for (const op of ['channel_add', 'channel.verified', 'channel.activated']) {
      expect(await people.ledger(op)).toMatchObject([{ subject: id }]);
    }
    expect(await people.events()).toMatchObject([{ kind: 'channel' }, { kind: 'approval' }]);
  });

  it.each([
    [{ verb: 'deny' }, 'denied'],
    [{ verb: 'needs_context', comment: 'who?' }, 'needs_context'],
  ] as const)(
    'that the owner answers with %j is gone, and may be added again',
    async (how, status) => {
      const { id, request } = await verified();
      const link = tokensOf(test.folder, 'c').at(-1) ?? '';
      await people.decide(request, how);
      expect((await people.status(request)).status).toBe(status);
      expect(await statusOf(id)).toBeUndefined();
      expect(await approvals().openChannel(link)).toBeNull();
      expect(await approvals().verifyEmail(link)).toBeNull();
      expect(await people.ledger('channel.removed')).toHaveLength(1);
      expect((await people.addChannel(ANA)).status).toBe(201);
    },
  );

  it('that the owner says nothing about is gone after a week', async () => {
    const { id, request } = await verified();
    clock.advance(7 * DAY - 1);
    await people.maintenance();
    expect(await statusOf(id)).toBe('verified');
    clock.advance(1);
    await people.maintenance();
    expect((await people.status(request)).status).toBe('expired');
    expect(await statusOf(id)).toBeUndefined();
    expect(await people.ledger('channel.removed')).toHaveLength(1);
  });

  it('that is confirmed by several at once asks the owner once', async () => {
    await people.addChannel(ANA);
    const link = await people.confirmLink();
    const views = await Promise.all(
      Array.from({ length: 10 }, () => approvals().verifyEmail(link)),
    );
    for (const view of views) expect(view?.status).toBe('verified');
    const rows = await people.project.store.read((store) => store.requests.pending(clock.now()));
    expect(rows).toHaveLength(1);
    await people.decide(rows[0]?.id ?? '', { verb: 'approve' });
    expect((await approvals().verifyEmail(link))?.status).toBe('active');
    expect(await people.ledger('channel.verified')).toHaveLength(1);
  });

  it('is sent another link once a minute, and the one before is dead', async () => {
    const { body } = await people.addChannel(ANA);
    const first = await people.confirmLink();
    clock.advance(MINUTE - 1500);
    const early = await people.addChannel('Ana.Lovelace@EXAMPLE.COM');
    expect(early).toMatchObject(refused(429, 'RATE_LIMITED', { retry_after: 2 }));
    expect(early.headers.get('retry-after')).toBe('2');
    clock.advance(1500);
    const again = await people.addChannel(ANA);
    expect(again).toMatchObject({ status: 201, body: { channel: { id: body.channel.id } } });
    const second = await people.confirmLink(1);
    expect(second).not.toBe(first);
    expect(await approvals().verifyEmail(first)).toBeNull();
    expect(await approvals().openChannel(first)).toBeNull();
    expect((await approvals().verifyEmail(second))?.status).toBe('verified');
    expect(await people.addChannel(ANA)).toMatchObject(refused(409, 'CHANNEL_EXISTS'));
    expect(tokensOf(test.folder, 'c')).toHaveLength(2);
  });

  it('has a day to be confirmed, and is then forgotten', async () => {
    const { body } = await people.addChannel(ANA);
    const link = await people.confirmLink();
    clock.advance(DAY - 1);
    await people.maintenance();
    expect(await approvals().openChannel(link)).not.toBeNull();
    clock.advance(1);
    expect(await approvals().openChannel(link)).toBeNull();
    expect(await approvals().verifyEmail(link)).toBeNull();
    expect(await statusOf(body.channel.id)).toBe('added');
    await people.maintenance();
    expect(await statusOf(body.channel.id)).toBeUndefined();
    expect((await people.addChannel(ANA)).body.channel.id).not.toBe(body.channel.id);
  });

  it('stays when only its link is past its time', async () => {
    const { id } = await verified();
    clock.advance(DAY);
    await people.maintenance();
    expect(await statusOf(id)).toBe('verified');
    expect(await approvals().openChannel(tokensOf(test.folder, 'c')[0] ?? '')).toBeNull();
  });
});

const bad = (path: string) => refused(400, 'VALIDATION_FAILED', { fields: [{ path }] });

describe('channel_add', () => {
  it('takes each address once, however it is written', async () => {
    const exists = refused(409, 'CHANNEL_EXISTS');
    await people.activeChannel(ANA);
    expect(await people.addChannel(ANA)).toMatchObject(exists);
    expect(await people.addChannel('Ana.Lovelace@EXAMPLE.com')).toMatchObject(exists);
    expect((await people.addChannel('ana.lovelace@example.com')).status).toBe(201);
  });

  it.each([
    'ana',
    'ana@',
    '@example.com',
    'a b@example.com',
    'Ana <ana@example.com>',
    'ana@example.com, ben@example.com',
    'ana@example.com\r\nBcc: ben@example.com',
    'ana@example.com\n',
    'ana@exam\0ple.com',
    '"ana b"@example.com',
    'ana@[127.0.0.1]',
    'ana..b@example.com',
    '.ana@example.com',
    'ana@-example.com',
    'ana@example..com',
    'änä@example.com',
    'ana@exämple.com',
    `${'x'.repeat(65)}@example.com`,
    '',
  ])('refuses the address %j', async (address) => {
    const answer = await post({ kind: 'email', address });
    expect(answer).toMatchObject(refused(400, 'CHANNEL_ADDRESS_REJECTED'));
    expect(JSON.stringify(answer.body)).not.toContain(address || 'ana');
    expect(await people.channels()).toHaveLength(1);
    expect(await people.ledger('channel_add')).toEqual([]);
  });

  it.each([
    (slug: string) => `${slug}@localhost`,
    (slug: string) => `${slug.toUpperCase()}@LocalHost`,
    (slug: string) => `${slug}+decide@localhost`,
    (slug: string) => `${slug}+r.0123456789abcdef0123@localhost`,
    () => 'another-project@localhost',
  ])('refuses an address of the service, which agents read: %s', async (of) => {
    const { slug } = people.project.info;
    const answer = await post({ kind: 'email', address: of(slug) });
    expect(answer).toMatchObject(refused(400, 'CHANNEL_ADDRESS_REJECTED'));
    expect(await people.channels()).toHaveLength(1);
  });

  it('refuses what does not fit together', async () => {
    expect(await post({ kind: 'email' })).toMatchObject(bad('address'));
    expect(await post({ kind: 'sms', address: ANA })).toMatchObject(bad('kind'));
    expect(await post({ kind: 'email', address: 'x'.repeat(400) })).toMatchObject(bad('address'));
    for (const label of ['', 'x'.repeat(61), 'a\nb', 'a\0']) {
      expect(await post({ kind: 'email', address: ANA, label })).toMatchObject(bad('label'));
    }
    expect(await post({ kind: 'telegram' })).toMatchObject(
      refused(400, 'CHANNEL_KIND_UNAVAILABLE'),
    );
    const named = await post({ kind: 'email', address: ANA });
    expect(named.body).toMatchObject({ channel: { label: 'email' } });
  });

  it('under an Idempotency-Key adds one channel and sends one mail', async () => {
    const body = { kind: 'email', address: ANA };
    const once = () =>
      test.call('POST', '/v1/channels', { body, headers: { 'idempotency-key': 'one' } });
    const first = await once();
    expect((await once()).body).toEqual(first.body);
    await people.confirmLink();
    expect(mailsOf(test.folder)).toHaveLength(1);
  });

  it('cannot be made to mail the world: 50 addresses an hour, also when they are removed', async () => {
    for (let n = 0; n < 49; n += 1) {
      const { body } = await people.addChannel(`n${n}@example.com`);
      await people.removeChannel(body.channel.id);
    }
    const limited = refused(429, 'RATE_LIMITED', { retry_after: 3600 });
    expect(await people.addChannel('more@example.com')).toMatchObject(limited);
    clock.advance(60 * MINUTE);
    expect((await people.addChannel('more@example.com')).status).toBe(201);
  });

  it('gives a project 50 channels', async () => {
    for (let n = 1; n < 50; n += 1) {
      clock.advance(2 * MINUTE);
      expect((await people.addChannel(`n${n}@example.com`)).status).toBe(201);
    }
    clock.advance(2 * MINUTE);
    const full = refused(400, 'VALIDATION_FAILED', { fields: [{ path: 'kind' }] });
    expect(await people.addChannel('more@example.com')).toMatchObject(full);
  });
});
