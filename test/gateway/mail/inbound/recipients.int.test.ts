import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MailRouter } from '../../../../gateway/mail/inbound/mail-router.ts';
import { DOMAIN, TestSending } from '../outbound/sending.ts';
import { guardWith, sentMessage } from './arrivals.ts';
import { readOffline } from './reader/read-offline.ts';

let shop: TestSending;
let other: TestSending;
let router: MailRouter;
let reply: { readonly address: string; readonly messageId: string };
beforeAll(async () => {
  shop = await TestSending.start();
  await shop.allowAll();
  other = await shop.neighbour('other-shop');
  reply = await sentMessage(shop);
  const { clock, gateway } = shop;
  router = new MailRouter({
    projects: gateway.gateway.projects,
    reader: {
      read: (raw) => readOffline(Buffer.from(raw).toString('latin1')),
      close: async () => undefined,
    },
    guard: guardWith(clock),
    clock,
    domain: DOMAIN,
  });
});
afterAll(() => shop.stop());

/** SHOP, OTHER and REPLY stand for addresses here. `top` is above the sender's own header, `own` is in it. */
interface Form {
  readonly who: string;
  readonly top?: readonly string[];
  readonly own?: readonly string[];
  readonly for: 'shop' | 'other' | 'both' | 'nobody';
}

const HIDDEN = 'To: undisclosed-recipients:;';
const BOX = 'box@provider.example';

/** A copy whose sender named nobody, with what a server wrote above. */
const copy = (who: string, ...top: readonly string[]): Form => ({ who, top, for: 'shop' });

const FORMS: readonly Form[] = [
  copy('Postfix', 'Return-Path: <ana@x.example>', 'X-Original-To: SHOP', `Delivered-To: ${BOX}`),
  copy('Postfix, virtual', 'Delivered-To: SHOP'),
  copy(
    'Postfix, one recipient',
    'Received: from mx.x.example (mx.x.example [192.0.2.7])\r\n\tby mail.inbox.test (Postfix) with ESMTPS id 4ABC\r\n\tfor <SHOP>; Thu, 26 Nov 2026 09:00:01 +0000 (UTC)',
  ),
  copy('Exim', 'Envelope-to: SHOP', 'Delivery-date: Thu, 26 Nov 2026 09:00:01 +0000'),
  copy(
    'Exim, for without brackets',
    'Received: from mx.x.example by mail.inbox.test with esmtps (Exim 4.96)\r\n\t(envelope-from <ana@x.example>) id 1abc-000\r\n\tfor SHOP; Thu, 26 Nov 2026 09:00:01 +0000',
  ),
  { who: 'Exim, two recipients in one copy', top: ['Envelope-to: SHOP, OTHER'], for: 'both' },
  {
    who: 'two recipients, with brackets and no comma',
    top: ['X-Envelope-To: <SHOP> <OTHER>'],
    for: 'both',
  },
  {
    who: 'two recipients, of which one is not here',
    top: ['Envelope-To: x@y.example, OTHER'],
    for: 'other',
  },
  copy(
    'sendmail',
    'Received: from mx.x.example by mail.inbox.test (8.17.1/8.17.1) with ESMTPS id 0ABC\r\n\tfor <SHOP>; Thu, 26 Nov 2026 09:00:01 GMT',
    `X-Envelope-To: ${BOX}`,
  ),
  copy(
    'qmail',
    `Delivered-To: inbox-test-SHOP`,
    'Received: (qmail 1234 invoked by uid 89); 26 Nov 2026 09:00:01 -0000',
    'Delivered-To: x@y.example',
    'X-Original-To: SHOP',
  ),
  copy('qmail, a domain of a user', 'Delivered-To: OF-QMAIL'),
  copy(
    'Dovecot',
    'Return-Path: <ana@x.example>',
    'Delivered-To: SHOP',
    'Received: from mail.inbox.test by mail.inbox.test with LMTP id abc (envelope-from <ana@x.example>) for <SHOP>; Thu, 26 Nov 2026 09:00:01 +0000',
  ),
  copy(
    'Gmail, a catch-all',
    `Delivered-To: ${BOX}`,
    'Received: by 2002:a05:6402:1 with SMTP id a1csp1; Thu, 26 Nov 2026 01:00:01 -0800 (PST)',
    'X-Gm-Original-To: SHOP',
  ),
  copy(
    'Gmail, sent on',
    `Delivered-To: ${BOX}`,
    'X-Forwarded-To: SHOP',
    'X-Forwarded-For: ana@x.example SHOP',
  ),
  copy(
    'Gmail, sent on, the other field alone',
    `Delivered-To: ${BOX}`,
    'X-Forwarded-For: ana@x.example SHOP',
  ),
  copy(
    'Gmail, one recipient',
    `Delivered-To: ${BOX}`,
    'Received: from mx.x.example (mx.x.example. [192.0.2.7]) by mx.google.example with ESMTPS id a1si1 for <SHOP> (version=TLS1_3 cipher=TLS_AES_128_GCM_SHA256 bits=128/128); Thu, 26 Nov 2026 01:00:01 -0800 (PST)',
  ),
  copy(
    'Fastmail',
    `X-Delivered-To: SHOP`,
    'X-Resolved-to: box+inbox@provider.example',
    `X-Mail-from: ana@x.example`,
  ),
  copy('Fastmail, an alias', `X-Delivered-To: ${BOX}`, 'X-Resolved-To: SHOP'),
  copy('Yahoo', 'X-Apparently-To: SHOP; Thu, 26 Nov 2026 09:00:01 +0000'),
  copy('Yahoo, old', 'X-Apparently-To: SHOP via 192.0.2.7; Thu, 26 Nov 2026 09:00:01 +0000'),
  copy('sendmail, old', 'Apparently-To: <SHOP>'),
  copy('Exchange, the envelope', 'X-MS-Exchange-Organization-OriginalEnvelopeRecipients: SHOP'),
  copy('Exchange, sent on', 'X-MS-Exchange-ForwardingLoop: SHOP;7f1b'),
  copy('Exchange, sent on by a rule', 'X-MS-Exchange-Inbox-Rules-Loop: SHOP'),
  copy('Exchange, the answered report', 'Original-Recipient: rfc822;SHOP'),
  copy('SmarterMail', 'X-Receiver: SHOP', 'X-Sender: ana@x.example'),
  copy('MDaemon', 'X-MDRcpt-To: SHOP', `X-MDaemon-Deliver-To: ${BOX}`),
  copy('Kerio and others', 'X-Envelope-To: SHOP'),
  copy('Zimbra', 'X-Original-To: SHOP', `Delivered-To: ${BOX}`),
  copy('CommuniGate', 'X-Real-To: SHOP'),
  copy('X-Rcpt-To', 'X-Rcpt-To: SHOP'),
  copy('X-Original-Recipient', 'X-Original-Recipient: SHOP'),
  copy('X-Recipient', 'X-Recipient: rfc822; SHOP'),
  copy('X-Envelope-Recipient', 'X-Envelope-Recipient: SHOP'),
  copy('an alias service', 'X-SimpleLogin-Envelope-To: SHOP'),
  copy('a name before it', 'Delivered-To: The shop <SHOP>'),
  copy('a folded field', 'X-Original-To:\r\n SHOP'),
  copy('capitals', 'DELIVERED-TO: SHOP'),
  copy('a sub-address', 'Delivered-To: TAGGED'),
  copy(
    'below hops of the mailbox',
    `Delivered-To: ${BOX}`,
    `Received: from a by b with LMTP for <${BOX}>; Thu, 26 Nov 2026 09:00:03 +0000`,
    'Received: from c by a with ESMTPS for <SHOP>; Thu, 26 Nov 2026 09:00:01 +0000',
  ),
  copy(
    'below what a filter adds',
    'X-Spam-Flag: NO',
    'Authentication-Results: mail.inbox.test; dkim=none',
    'Delivered-To: SHOP',
  ),
  copy(
    'a comment in it',
    'Received: from mx.x.example (envelope for <OTHER2>) by mail.inbox.test with ESMTP\r\n (Postfix) for <SHOP> (and nobody else); Thu, 26 Nov 2026 09:00:01 +0000',
  ),
  { who: 'no server, but To', own: ['To: The shop <SHOP>'], for: 'shop' },
  { who: 'no server, but Cc and Bcc', own: ['Cc: SHOP', 'Bcc: OTHER'], for: 'both' },
  {
    who: 'no server, but Resent-To',
    top: ['Resent-To: SHOP', 'Resent-From: ana@x.example'],
    own: [HIDDEN],
    for: 'shop',
  },
  {
    who: 'a server names one, To another',
    top: ['Delivered-To: OTHER'],
    own: ['To: SHOP'],
    for: 'other',
  },
  {
    who: 'a server names only its mailbox',
    top: [`Delivered-To: ${BOX}`],
    own: ['To: SHOP'],
    for: 'shop',
  },
  {
    who: 'the reply address in References',
    own: [HIDDEN, 'References: <q@x.example> <REPLY> <r@x.example>'],
    for: 'shop',
  },
  { who: 'the reply address in In-Reply-To', own: [HIDDEN, 'In-Reply-To: <REPLY>'], for: 'shop' },
  { who: 'the reply address in capitals', own: [HIDDEN, 'References: <CAPITALS>'], for: 'shop' },
  { who: 'a field of the sender', own: ['To: SHOP', 'Delivered-To: OTHER'], for: 'shop' },
  {
    who: 'a hop of the sender',
    own: ['To: SHOP', 'Received: from a by b for <OTHER>; Thu, 26 Nov 2026 09:00:01 +0000'],
    for: 'shop',
  },
  {
    who: 'a second field below the first',
    top: ['Delivered-To: SHOP', 'Delivered-To: OTHER'],
    for: 'shop',
  },
  { who: 'another domain', top: ['Delivered-To: shop@elsewhere.example'], for: 'nobody' },
  { who: 'no such project', top: [`X-Original-To: nobody@${DOMAIN}`], for: 'nobody' },
  { who: 'only fields of the sender', own: [HIDDEN, 'X-Forwarded-To: SHOP'], for: 'nobody' },
  {
    who: 'an id that names the project, but no message',
    own: [HIDDEN, 'References: <SHOP>'],
    for: 'nobody',
  },
  { who: 'nothing at all', own: [HIDDEN], for: 'nobody' },
];

const named = async (project: TestSending, id: string) => {
  const events = await project.events('email.received');
  return events.filter(({ payload }) => (payload as { message_id: string }).message_id === id);
};

const TOLD = { shop: [1, 0], other: [0, 1], both: [1, 1], nobody: [0, 0] } as const;

describe('whom a copy is for', () => {
  it.each(FORMS.map((form, index) => ({ index, ...form })))(
    'is found: $who: $for',
    async ({ index, top = [], own = [HIDDEN], for: expected }) => {
      const id = `<r${index}@x.example>`;
      const lines = [...top, ...own, `Message-ID: ${id}`, 'Subject: copy', '', 'Hello.'];
      const raw = lines
        .join('\r\n')
        .replaceAll('SHOP', shop.address)
        .replaceAll('OF-QMAIL', `${DOMAIN}-${shop.address}`)
        .replaceAll('TAGGED', shop.address.replace('@', '+news@'))
        .replaceAll('OTHER', other.address)
        .replaceAll('REPLY', reply.address)
        .replaceAll('CAPITALS', reply.address.toUpperCase());
      const took = await router.take({ raw: Buffer.from(raw), whole: true, sizeBytes: raw.length });
      expect(took).toBe(expected === 'nobody' ? 'unknown_recipient' : 'delivered');
      const found = [await named(shop, id), await named(other, id)];
      expect(found.map(({ length }) => length)).toEqual(TOLD[expected]);
      const isAnswer = lines.some((line) => /REPLY|CAPITALS/.test(line));
      const answered = found.flat().map(({ reply_to: to }) => to);
      expect(answered).toEqual(answered.map(() => (isAnswer ? reply.messageId : null)));
    },
  );
});
