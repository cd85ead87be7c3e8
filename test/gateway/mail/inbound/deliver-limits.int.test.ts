import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LOCAL_INGRESS } from '../../../../gateway/lib/ingress-config.ts';
import { MailRouter } from '../../../../gateway/mail/inbound/mail-router.ts';
import type { ReadMail } from '../../../../gateway/mail/inbound/read-mail.ts';
import { isRefusal } from '../../../../gateway/projects/limits/ingress-guard.ts';
import { maintain } from '../../../../gateway/projects/maintenance.ts';
import { NO_INGRESS_LIMITS } from '../../../../shared/rules/inbox/ingress-limit.ts';
import { sourceUseIn } from '../../../helpers/source-use.ts';
import { DOMAIN, TestSending } from '../outbound/sending.ts';
import { fileWith, guardWith, mailWith, reportWith, sentMessage } from './arrivals.ts';

const KIB = 1024;
const DAY_MS = 86_400_000;

let shop: TestSending;
let other: TestSending;
beforeEach(async () => {
  const limits = { ...NO_INGRESS_LIMITS, sourceBytes: 64 * KIB };
  shop = await TestSending.start({ ingress: { ...LOCAL_INGRESS, limits } });
  await shop.allowAll();
  other = await shop.neighbour('other-shop');
});
afterEach(() => shop.stop());

function take(mail: ReadMail) {
  const { clock, gateway } = shop;
  const router = new MailRouter({
    projects: gateway.gateway.projects,
    reader: { read: async () => mail, close: async () => undefined },
    guard: guardWith(clock),
    clock,
    domain: DOMAIN,
  });
  return router.take({ raw: Buffer.from('x'), whole: true, sizeBytes: 1 });
}

const largeTo = (...addressed_to: string[]) =>
  mailWith(
    {},
    { addressed_to, files: [fileWith('a.bin', Buffer.alloc(100 * KIB, Math.random().toString()))] },
  );

const countOf = async (project: TestSending) => (await project.events('email.received')).length;

describe('a mail to a project that stores as much as it may', () => {
  it('is refused in a way that leaves it in the mailbox, and taken when there is room', async () => {
    expect(await take(largeTo(shop.address))).toBe('delivered');
    const late = largeTo(shop.address);
    const error = await take(late).catch((thrown: unknown) => thrown);
    expect(isRefusal(error) && error.details).toMatchObject({ kind: 'source_bytes' });
    const { body } = await shop.call('GET', '/v1/sources/mail');
    expect(body).toMatchObject({ limited: { kind: 'source_bytes', limit: 64 * KIB } });
    shop.clock.advance(30 * DAY_MS + 1);
    await maintain(shop.project, shop.clock);
    expect(await take(late)).toBe('delivered');
    expect(await countOf(shop)).toBe(2);
  });

  it('comes to the other projects that it is for, once', async () => {
    await take(largeTo(shop.address));
    const both = largeTo(shop.address, other.address);
    for (let n = 0; n < 2; n += 1) await expect(take(both)).rejects.toThrow('Too many');
    expect([await countOf(shop), await countOf(other)]).toEqual([1, 1]);
  });

  it('that names many projects comes to the first ten, and opens no other', async () => {
    const many: TestSending[] = [];
    for (let n = 0; n < 12; n += 1) many.push(await shop.neighbour(`many-${n}`));
    const named = many.flatMap(({ address }) => [address, address.replace('@', '+x@')]);
    expect(await take(mailWith({}, { addressed_to: named }))).toBe('delivered');
    const counts = await Promise.all(many.map(countOf));
    expect(counts).toEqual([...Array.from({ length: 10 }, () => 1), 0, 0]);
  });

  it('is taken if it reports about a mail of the project', async () => {
    await take(largeTo(shop.address));
    const { reportTo } = await sentMessage(shop);
    const report = reportWith({ action: 'failed', status: '5.1.1' });
    const mail = mailWith({}, { delivered_to: [[reportTo]], report });
    expect(await take(mail)).toBe('delivered');
  });
});

describe('what a project stores', () => {
  it('is counted as its rows say, with files, after purges and with parked events', async () => {
    const path = join(shop.gateway.folder, 'projects', shop.project.info.id, 'project.db');
    await take(largeTo(shop.address));
    const hook = await shop.gateway.addSource({ name: 'hook' });
    const ids = [];
    for (let n = 0; n < 3; n += 1) {
      const { body } = await shop.gateway.deliver(hook, `{"n":${n}}`, { 'x-note': 'äöü' });
      ids.push(body['event_id']);
    }
    const lease = await shop.call('POST', '/v1/inbox/claim', { event_id: ids[0] });
    const park = { event_id: ids[0], lease_id: lease.body['lease_id'], until: { after: '60d' } };
    await shop.call('POST', '/v1/inbox/park', park);
    const before = sourceUseIn(path);
    expect(before.counted).toEqual(before.stored);
    expect(Object.keys(before.stored)).toHaveLength(2);
    shop.clock.advance(30 * DAY_MS + 1);
    await maintain(shop.project, shop.clock);
    const after = sourceUseIn(path);
    expect(after.counted).toEqual(after.stored);
  });
});
