import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MailConfig } from '../../../gateway/mail/mail-config.ts';
import { maintain } from '../../../gateway/projects/maintenance.ts';
import { FakeSmtp } from '../../helpers/fake-smtp.ts';
import { FakeClock } from '../../helpers/gateway.ts';
import { TestSending } from '../mail/outbound/sending.ts';
import { Pair } from './pair.ts';

const SECOND = 1000;
/** How long a mail is claimed, and how long it is left alone once its bytes may have left. */
const CLAIM_MS = 120 * SECOND;
const HANDED_MS = 600 * SECOND;

let pair: Pair;
let clock: FakeClock;
let smtp: FakeSmtp;
let senders: TestSending[];
let mail: TestSending;
beforeEach(async () => {
  clock = new FakeClock();
  smtp = await FakeSmtp.start();
  pair = await Pair.start({ clock, messaging: { mail: configOf(smtp), telegram: null } });
  await pair.a.addSource({ type: 'email', name: 'mail' });
  senders = [
    await TestSending.of(pair.a, pair.a.projectId, clock),
    await TestSending.of(pair.b, pair.a.projectId, clock),
  ];
  const [first] = senders;
  if (!first) throw new Error('There are two.');
  mail = first;
  await mail.allowAll();
});
afterEach(async () => {
  await pair.stop();
  await smtp.close();
});

const maintenance = () => Promise.all(senders.map(({ project }) => maintain(project, clock)));
const soon = { timeout: 60_000, interval: 5 };
const idle = async (): Promise<void> => {
  await expect.poll(() => senders.some(({ project }) => project.mails.isBusy), soon).toBe(false);
};

describe('mails', () => {
  it('are tried once at each time they are due, though both gateways look', async () => {
    smtp.script = { end: { reply: '451 4.3.0 Try later' } };
    const ids = await Promise.all(
      senders.flatMap((sender, n) =>
        [1, 2, 3].map((nth) => sender.sent({ to: [`ana${n}${nth}@example.com`] })),
      ),
    );
    for (const round of [1, 2]) {
      await expect.poll(() => smtp.begun, soon).toBe(6 * round);
      await idle();
      await maintenance();
      await idle();
      expect(smtp.begun).toBe(6 * round);
      if (round === 2) smtp.script = {};
      clock.advance(60 * SECOND);
      await maintenance();
    }
    for (const id of ids) expect(await mail.ended(id)).toMatchObject([{ status: 'sent' }]);
    await idle();
    expect(smtp.received).toHaveLength(6);
    expect(await mail.ledger('email.sent')).toHaveLength(6);
  });

  it('that are claimed and never handed over are sent by the other when the claim has lapsed', async () => {
    // As by a gateway that is killed after this.
    for (const { project } of senders.slice(0, 1)) project.mails.close();
    const id = await mail.sent();
    const now = clock.now();
    const claim = { now, until: now + CLAIM_MS, limit: 9 };
    expect(await mail.project.writes.run('claimMails', claim)).toHaveLength(1);
    clock.advance(CLAIM_MS - 1);
    await maintenance();
    await idle();
    expect(smtp.received).toEqual([]);
    clock.advance(1);
    await maintenance();
    expect(await mail.ended(id)).toMatchObject([{ status: 'sent' }]);
    expect(smtp.received).toHaveLength(1);
  });

  it('whose bytes may have left are told of by the other, and not sent again', async () => {
    for (const { project } of senders.slice(0, 1)) project.mails.close();
    const id = await mail.sent();
    const now = clock.now();
    const until = now + CLAIM_MS;
    const [claimed] = await mail.project.writes.run('claimMails', { now, until, limit: 9 });
    const handing = { messageId: claimed?.id ?? '', claimedUntil: until, now };
    expect(await mail.project.writes.run('handMail', handing)).toBe(now + HANDED_MS);
    // Whoever comes later has lost it.
    expect(await mail.project.writes.run('handMail', handing)).toBeNull();
    clock.advance(HANDED_MS - 1);
    await maintenance();
    await idle();
    expect(await mail.status(id)).toMatchObject({ messages: [{ status: 'queued' }] });
    clock.advance(1);
    await maintenance();
    expect(await mail.ended(id)).toMatchObject([{ status: 'failed', error: { code: 'unknown' } }]);
    expect(smtp.received).toEqual([]);
  });
});

function configOf({ port }: FakeSmtp): MailConfig {
  const place = { host: '127.0.0.1', port, tls: 'off', credentials: null } as const;
  const common = { domain: 'agents.test', imap: null, dkim: null, dnsServers: [] };
  return { kind: 'smtp', ...place, ...common, from: 'svc@agents.test' };
}
