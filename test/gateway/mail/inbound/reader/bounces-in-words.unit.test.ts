import { describe, expect, it } from 'vitest';
import { ID, form, daemon, nobody, parts, COPY, FAILED, found, type Form } from './bounce-form.ts';

const FORMS: readonly Form[] = [
  form(
    'Exim',
    'failed 5.1.1 words',
    [
      'Return-Path: <>',
      'X-Failed-Recipients: gone@partner.example',
      'Auto-Submitted: auto-replied',
      'From: Mail Delivery System <Mailer-Daemon@mx.partner.example>',
      'Subject: Mail delivery failed: returning message to sender',
    ],
    `This message was created automatically.\n\nThe following address failed for good:\n\n  gone@partner.example\n    host mx.partner.example [192.0.2.7]\n    SMTP error from remote mail server after RCPT TO:<gone@partner.example>:\n    550 5.1.1 user unknown\n\n------ This is a copy of the message, including all the headers. ------\n\nMessage-ID: <${ID}>\nSubject: Order\n\nHello.`,
  ),
  form(
    'Exim, without a status',
    'failed 5.1.1 words',
    [
      'X-Failed-Recipients: gone@partner.example',
      'From: Mail Delivery System <Mailer-Daemon@mx.partner.example>',
      'Subject: Mail delivery failed: returning message to sender',
    ],
    `  gone@partner.example\n    Unrouteable address\n\n------ This is a copy of the message ------\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'Exim, gave up',
    'failed 4.4.7 words',
    [
      'X-Failed-Recipients: gone@partner.example',
      'From: Mailer-Daemon@mx.partner.example',
      'Subject: Mail delivery failed: returning message to sender',
    ],
    `  gone@partner.example\n    retry timeout exceeded\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'Exim, a warning',
    'delayed null words',
    [...daemon('Warning: message 1abc-00 delayed 24 hours')],
    `A message that you sent has not yet been delivered to one or more of its recipients after more than 24 hours.\n\nNo action is required on your part. Delivery attempts will continue for some time.\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'Exim, many',
    'failed 5.1.1 words',
    [
      'X-Failed-Recipients: gone@partner.example,\n also@partner.example',
      'From: Mailer-Daemon@mx.partner.example',
      'Subject: Mail delivery failed',
    ],
    `  550 5.1.1 unknown\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'qmail',
    'failed 5.1.1 words',
    daemon('failure notice'),
    `Hi. This is the qmail-send program at mx.partner.example.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\n<gone@partner.example>:\nSorry, no mailbox here by that name. (#5.1.1)\n\n--- Below this line is a copy of the message.\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'qmail, a host',
    'failed 5.1.2 words',
    daemon('failure notice'),
    `<gone@partner.example>:\nSorry, I couldn't find any host named partner.example. (#5.1.2)\n\n--- Below this line is a copy of the message.\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'qmail, too long in the queue',
    'failed 4.4.1 words',
    daemon('failure notice'),
    `<gone@partner.example>:\nSorry, I wasn't able to establish an SMTP connection. (#4.4.1)\nI'm not going to try again; this message has been in the queue too long.\n\n--- Below this line is a copy of the message.\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'Yahoo',
    'failed 5.1.1 words',
    daemon('Failure Notice', 'yahoo.example'),
    `Sorry, we were unable to deliver your message to the following address.\n\n<gone@partner.example>:\n554: delivery error: dd This user doesn't have a partner.example account (gone@partner.example)\n\n--- Below this line is a copy of the message.\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'Yahoo, old',
    'failed 5.1.1 words',
    daemon('Failure Notice'),
    `Message from partner.example.\nUnable to deliver message to the following address(es).\n\n<gone@partner.example>:\nThis user doesn't have a partner.example account\n\n--- Original message follows.\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'sendmail, old',
    'failed 5.1.1 words',
    nobody('Returned mail: User unknown', 'Mail Delivery Subsystem <MAILER-DAEMON>'),
    `   ----- The following addresses had permanent fatal errors -----\n<gone@partner.example>\n\n   ----- Transcript of session follows -----\n550 5.1.1 <gone@partner.example>... User unknown\n\n   ----- Original message follows -----\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'sendmail, a warning',
    'delayed null words',
    daemon('Warning: could not send message for past 4 hours'),
    `    **********************************************\n    **      THIS IS A WARNING MESSAGE ONLY      **\n    **  YOU DO NOT NEED TO RESEND YOUR MESSAGE  **\n    **********************************************\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'Exchange, old',
    'failed 5.1.1 words',
    nobody('Undeliverable: Order'),
    `Your message did not reach some or all of the intended recipients.\n\n      Subject:  Order\n\nThe following recipient(s) could not be reached:\n\n      gone@partner.example\n            The e-mail account does not exist. <mx.partner.example #5.1.1>\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'Exchange, German',
    'failed 5.1.1 words',
    nobody('Unzustellbar: Bestellung'),
    `Fehler bei der Zustellung an folgende Empfänger:\n\ngone@partner.example\nDiese Adresse existiert nicht.\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'Exchange, French',
    'failed 5.7.1 words',
    nobody('Non remis : Commande'),
    `Échec de la remise.\n\ngone@partner.example : 550 5.7.1 refusé\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'Exchange, Spanish',
    'failed 5.1.1 words',
    nobody('No se puede entregar: Pedido'),
    `La dirección no existe: gone@partner.example\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'Exchange, Italian',
    'failed 5.1.1 words',
    nobody('Non recapitabile: Ordine'),
    `Utente sconosciuto: gone@partner.example\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'Exchange, Dutch',
    'failed 5.1.1 words',
    nobody('Onbestelbaar: Bestelling'),
    `Het adres bestaat niet.\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'Exchange, Russian',
    'failed 5.1.1 words',
    nobody('Недоставленное: Заказ'),
    `Адрес не существует.\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'MDaemon',
    'failed 5.1.1 words',
    nobody('Permanent Delivery Failure', 'MDaemon@mx.partner.example'),
    `Failed address: gone@partner.example\n\n550 5.1.1 Recipient unknown\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'Lotus Domino',
    'failed 5.1.1 words',
    nobody('DELIVERY FAILURE: User gone (gone@partner.example) not listed in Domino Directory'),
    `User gone not listed in Domino Directory\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'Mailgun',
    'failed 5.1.1 words',
    nobody('Mail delivery failed: Order', 'Mail Delivery <postmaster@mg.example>'),
    `Your message could not be delivered: 550 5.1.1 No such user\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'a full mailbox',
    'failed 5.2.2 words',
    daemon('Undeliverable mail'),
    `<gone@partner.example>: the mailbox is full.\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'blocked',
    'failed 5.7.1 words',
    daemon('Undelivered mail'),
    `550 Your message was blocked as spam.\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'too large',
    'failed 5.3.4 words',
    daemon('Undelivered mail'),
    `552 Message exceeds maximum size.\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'a daemon in words nobody knows',
    'failed null words',
    daemon('Tà 12'),
    `Kyà pà tò.\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'arrived, in words',
    'relayed null words',
    daemon('Delivered: Order'),
    `Your message was passed on.\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'a version number is no status',
    'failed null words',
    daemon('Undelivered mail'),
    `Reported by mailer 5.1.1.2 at 4.3.2.1.\n\nMessage-ID: <${ID}>`,
  ),

  form(
    'no reason',
    'failed null words',
    nobody('Delivery failure'),
    `Your message to gone@partner.example could not be delivered.\n\nMessage-ID: <${ID}>`,
  ),
  form(
    'no reason, and a subject of its own',
    'failed null guess',
    nobody('About your message', 'mail@partner.example'),
    'Your message to gone@partner.example could not be delivered.',
    false,
  ),
  form(
    'a server that one does not know by its header',
    'failed 5.1.1 guess',
    ['From: Mail team <mail@partner.example>', 'Subject: Your mail'],
    '550 5.1.1 gone@partner.example: no such user',
    false,
  ),
  form(
    'a person who quotes a report',
    'failed 5.1.1 guess',
    ['From: Ana <ana@x.example>', 'Subject: Re: Order'],
    'I got this: 550 5.1.1 no such user.',
    false,
  ),
  form(
    'an absence notice',
    'null',
    nobody('Automatic reply: Order', 'Ana <ana@x.example>'),
    'I am away until Monday.',
    false,
  ),
  form(
    'an absence notice about a delivery',
    'null',
    [
      ...nobody('Automatic reply: Delivery delayed: order 12', 'Ana <ana@x.example>'),
      'Auto-Submitted: auto-replied',
    ],
    'I am away. My answer will be delayed.',
    false,
  ),
  form(
    'an absence notice with our subject',
    'null',
    [
      ...nobody('Re: Delivery report of May', 'Ana <ana@x.example>'),
      'Auto-Submitted: auto-replied',
    ],
    'I am away and will try to answer on Monday.',
    false,
  ),
  form(
    'a receipt',
    'null',
    [
      'From: Ana <ana@x.example>',
      'Subject: Read: Order',
      ...parts('multipart/report; report-type=disposition-notification').head,
    ],
    parts(
      '',
      ['text/plain', 'It was read.'],
      [
        'message/disposition-notification',
        'Final-Recipient: rfc822; ana@x.example\nDisposition: manual-action/MDN-sent-manually; displayed\n',
      ],
    ).body,
    false,
  ),
  form(
    'a person about a delivery',
    'null',
    ['From: Ana <ana@x.example>', 'Subject: Delivery problem'],
    'The parcel has not come.',
    false,
  ),
  form(
    'a person who sends a report on',
    'null',
    ['From: Ana <ana@x.example>', 'Subject: What is this?', ...parts('multipart/mixed').head],
    parts('', ['text/plain', 'Look.'], FAILED, COPY).body,
    false,
  ),
  form(
    'a list',
    'null',
    ['From: News <news@x.example>', 'List-Id: <news.x.example>', 'Subject: News of May'],
    'All is well.',
    false,
  ),
];

/** What Exchange puts before the subject, in a text that we don't understand. */
const OF_EXCHANGE = [
  'Nedoručitelné',
  'Nedoručiteľné',
  'Niedostarczalne',
  'Não é possível entregar',
  'Kan ikke leveres',
  'Ei voitu toimittaa',
  'Det går inte att leverera',
  'Μη παραδοτέο',
  'לא ניתן למסירה',
  'تعذر التسليم',
  'Nelivrabil',
  'Не вдалося доставити',
  '配信不能',
  '無法傳遞',
  '배달되지 않음',
];

describe('a report of a postmaster who names no reason that we know', () => {
  it.each(OF_EXCHANGE)('is one: %s', async (word) => {
    const one = form(
      word,
      '',
      nobody(`${word}: 12`),
      `gone@partner.example\n\nMessage-ID: <${ID}>`,
    );
    expect(await found(one)).toEqual(['failed null words', `<${ID}>`]);
  });

  it('is none if it has a sender', async () => {
    const head = ['From: postmaster@partner.example', 'Subject: Nedoručitelné: 12'];
    expect(await found(form('', '', head, 'Hello.'))).toEqual(['null', null]);
  });
});

describe('a report in the words of a mail server', () => {
  it.each(FORMS)('is understood: $who: $says', async (one) => {
    expect(await found(one)).toEqual([one.says, one.knows ? `<${ID}>` : null]);
  });
});
