import { afterEach, beforeEach, expect, it } from 'vitest';
import { SmtpMailer } from '../../../gateway/mail/smtp-mailer.ts';
import { FakeSmtp } from '../../helpers/fake-smtp.ts';
import { NOW } from './samples.ts';

const mail = {
  id: 'msg_1',
  from: 'shop@agents.example',
  to: 'ann@example.com',
  subject: 'Your order',
  text: 'It is on its way.',
};

/** More than what stands between two sockets. */
const large = { name: 'map.png', contentType: 'image/png', bytes: new Uint8Array(12_000_000) };

let server: FakeSmtp;
let mailer: SmtpMailer;
beforeEach(async () => {
  server = await FakeSmtp.start({ script: { body: 'close' } });
  const { port } = server;
  const place = { kind: 'smtp', host: '127.0.0.1', port, tls: 'off', credentials: null } as const;
  mailer = await SmtpMailer.open({
    place: { ...place, from: mail.from },
    clock: { now: () => NOW },
  });
});
afterEach(async () => {
  await mailer.close();
  await server.close();
});

it('a server that goes in the middle of a mail has nothing: the mail may be sent again', async () => {
  const sent = await mailer.send({ ...mail, attachments: [large] });
  expect(sent).toMatchObject({ outcome: 'later' });
  expect([server.begun, server.received.length]).toEqual([1, 0]);
  server.script = {};
  expect(await mailer.send({ ...mail, attachments: [large] })).toMatchObject({ outcome: 'sent' });
  expect(server.received).toHaveLength(1);
});

it('a server that goes behind the end of a mail may have it', async () => {
  server.script = { end: 'close' };
  expect(await mailer.send(mail)).toMatchObject({ outcome: 'unknown' });
  expect(server.received).toHaveLength(1);
});
