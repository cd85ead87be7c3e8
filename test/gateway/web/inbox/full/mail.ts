import {
  arrive,
  arrived,
  fileWith,
  mailWith,
  reportWith,
  sentMessage,
} from '../../../mail/inbound/arrivals.ts';
import type { TestSending } from '../../../mail/outbound/sending.ts';

const INES = { name: 'Ines Ferreira', address: 'ines@example.com' };
const MINUTE_MS = 60_000;

const FIRST = `Hello,

one of the three shelves of order 20418 arrived with a split along the back edge. You see it on the photo.

Could you send me another one before the weekend, or give me the money back for this one?

Best regards
Ines Ferreira`;

const ANSWER = `Dear Ines,

I'm sorry about the shelf. A new one would take nine days, so I'd rather refund it: EUR 129.50, to your card. Please keep the shelf.

A colleague has to approve the refund first. I'll write again as soon as it's done.

Acme Shop`;

/** A thread with Ines, and mail in every other state. */
export async function fillMail(sending: TestSending): Promise<void> {
  const { clock } = sending;
  const photo = fileWith('shelf.jpg', new Uint8Array(91_000), 'image/jpeg');
  const first = await arrived(
    sending,
    mailWith(
      {
        from: INES,
        subject: 'A broken shelf in order 20418',
        text: FIRST,
        text_stripped: FIRST,
        message_id: '<first@example.com>',
      },
      { files: [photo], html: Buffer.from(`<p>${FIRST.replaceAll('\n', '<br>')}</p>`) },
    ),
  );
  clock.advance(4 * MINUTE_MS);
  await sending.ended(
    await sending.sent({
      to: undefined,
      subject: undefined,
      text: ANSWER,
      html: `<p>${ANSWER.replaceAll('\n', '<br>')}</p>`,
      attachments: ['support/20418/shelf.png'],
      reply_to_event: first,
    }),
  );
  clock.advance(11 * MINUTE_MS);
  const thanks = 'That works for me, thank you.\n\nInes';
  await arrived(
    sending,
    mailWith({
      from: INES,
      subject: 'Re: A broken shelf in order 20418',
      text: `${thanks}\n\n> ${ANSWER.replaceAll('\n', '\n> ')}`,
      text_stripped: thanks,
      in_reply_to: '<first@example.com>',
    }),
  );
  await others(sending);
}

async function others(sending: TestSending): Promise<void> {
  const { clock } = sending;
  await arrived(
    sending,
    mailWith(
      {
        from: { name: 'Stripe Support', address: 'support@stripe-billing.example' },
        subject: 'Your account will be closed today',
        text: 'Confirm your password within the hour.',
        text_stripped: 'Confirm your password within the hour.',
      },
      { verified: false },
    ),
  );
  clock.advance(MINUTE_MS);
  await sentMessage(sending, 'marek@example.com', {
    subject: 'Your repair is booked',
    text: 'Hello Marek,\n\nthe carrier comes on Thursday between 9 and 12.\n\nAcme Shop',
  });
  const bounced = await sentMessage(sending, 'old-address@example.com', {
    subject: 'Your order has shipped',
    text: 'It arrives on Friday.',
  });
  const failed = { status: '5.1.1', diagnostic: 'smtp; 550 5.1.1 No such user here' };
  await arrive(
    sending,
    mailWith({ from: null, subject: 'Undelivered' }, { report: reportWith(failed) }),
    { recipients: [bounced.reportTo] },
  );
  clock.advance(MINUTE_MS);
  // Outside the domains that need nobody, so it waits for a person.
  await sending.sent({
    to: ['ben@okafor-trading.example'],
    subject: 'Your invoice 2026-1187',
    text: 'Dear Ben,\n\nhere is the invoice in the name of Okafor Trading Ltd.\n\nAcme Shop',
  });
}
