import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MailRouter } from '../../../../gateway/mail/inbound/mail-router.ts';
import type { ReadMail } from '../../../../gateway/mail/inbound/read-mail.ts';
import { DOMAIN, TestSending } from '../outbound/sending.ts';
import { guardWith, mailWith, reportWith, sentMessage } from './arrivals.ts';

let shop: TestSending;
let other: TestSending;
beforeEach(async () => {
  shop = await TestSending.start();
  await shop.allowAll();
  other = await shop.neighbour('other-shop');
});
afterEach(() => shop.stop());

/** Takes a mail in, understood as given. */
function take(mail: ReadMail) {
  const { clock, gateway } = shop;
  const room = new MailRouter({
    projects: gateway.gateway.projects,
    reader: { read: async () => mail, close: async () => undefined },
    guard: guardWith(clock),
    clock,
    domain: DOMAIN,
  });
  return room.take({ raw: Buffer.from('x'), whole: true, sizeBytes: 1 });
}

const countOf = async (project: TestSending) => (await project.events('email.received')).length;

const to = (...addressed_to: string[]) => mailWith({}, { addressed_to });

describe('a mail out of the mailbox', () => {
  it('comes to the project that it was delivered to, whatever stands in To', async () => {
    const mail = mailWith(
      {},
      { delivered_to: [[`Other-Shop+abc@${DOMAIN}`]], addressed_to: [shop.address] },
    );
    expect(await take(mail)).toBe('delivered');
    expect([await countOf(shop), await countOf(other)]).toEqual([0, 1]);
    expect(await take(mail)).toBe('duplicate');
  });

  it('comes to nobody else, whose name the mailbox has or the sender adds', async () => {
    const delivered_to = [[shop.address], [other.address]];
    expect(await take(mailWith({}, { delivered_to, addressed_to: [other.address] }))).toBe(
      'delivered',
    );
    expect([await countOf(shop), await countOf(other)]).toEqual([1, 0]);
  });

  it('comes to whom it names, where no server noted an address of ours', async () => {
    const mail = mailWith(
      {},
      {
        delivered_to: [['inbox@provider.example']],
        addressed_to: ['x@example.com', shop.address, other.address, shop.address],
      },
    );
    expect(await take(mail)).toBe('delivered');
    expect([await countOf(shop), await countOf(other)]).toEqual([1, 1]);
    expect(await take(mail)).toBe('duplicate');
  });

  it.each([`nobody@${DOMAIN}`, 'shop@example.com', `+x@${DOMAIN}`, 'x'])(
    'to %s is for nobody',
    async (address) => {
      expect(await take(to(address))).toBe('unknown_recipient');
      expect([await countOf(shop), await countOf(other)]).toEqual([0, 0]);
    },
  );

  it('for a project that takes no mail is for nobody', async () => {
    await other.call('DELETE', '/v1/sources/mail');
    expect(await take(to(other.address))).toBe('unknown_recipient');
    expect(await take(to(other.address, shop.address))).toBe('delivered');
    expect([await countOf(shop), await countOf(other)]).toEqual([1, 0]);
    await other.call('POST', '/v1/sources', { type: 'email', name: 'post' });
    expect(await take(to(other.address))).toBe('delivered');
    expect(await other.events('email.received')).toMatchObject([{ source: 'post' }]);
  });

  it('that reports is taken in, and is no event of its own', async () => {
    const { messageId, reportTo } = await sentMessage(shop);
    const report = reportWith({ status: '5.1.1' });
    expect(await take(mailWith({}, { delivered_to: [[reportTo]], report }))).toBe('delivered');
    expect(await shop.events('email.bounced')).toMatchObject([
      { payload: { message_id: messageId } },
    ]);
    expect(await countOf(shop)).toBe(0);
  });
});
