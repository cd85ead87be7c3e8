import { mailDate, uuid } from './fresh.ts';
import { mailbox, messageId, subjectLine, type MailField, type MailFields } from './mail-fields.ts';
import { fieldsPart, headed, headerText, multipart, textPart, written } from './mime.ts';

/** A mail that `svc trigger` can send. */
export interface MailKind {
  /** `email.reply` */
  readonly kind: string;
  readonly summary: string;
  readonly fields: readonly MailField[];
  /** Without it there is nothing to send. */
  readonly required: MailField | null;
  /** A report about a message that was sent makes no mail of its own: it changes what is known of the message. */
  readonly isReport: boolean;
  /** The mail whole, to this address of a project. */
  readonly build: (fields: MailFields, to: string) => string;
}

const PERSON = 'Ines Ferreira <ines.ferreira@example.com>';
const RELAY = 'mx.example.com';
const RECIPIENT = 'somebody@example.com';

const ORDER_TEXT = `Hello,

order 20418 is on its way to my old address. Could you send it to
Rua das Flores 12, 4050-262 Porto instead?

What I ordered is attached.

Thank you,
Ines
`;

const ORDER_CSV = `item,quantity,price
Tide table 2026,2,24.50
Harbour chart 14,1,18.00
`;

function order(fields: MailFields, to: string): string {
  const { subject = 'Order 20418 goes to my old address', text = ORDER_TEXT } = fields;
  const csv = headed(
    [['Content-Disposition', 'attachment; filename="order-20418.csv"']],
    textPart('text/csv', ORDER_CSV),
  );
  const both = [textPart('text/plain', text), textPart('text/html', htmlOf(text))];
  const body = multipart('multipart/mixed', [multipart('multipart/alternative', both), csv]);
  return written(headed(heading({ ...fields, subject }, to), body));
}

function reply(fields: MailFields, to: string): string {
  const { subject = 'Re: Your order', in_reply_to: answered = '' } = fields;
  const id = messageId('in_reply_to', answered, to);
  const quoted = `On ${mailDate(3600)}, ${to} wrote:\n> Does it fit?\n`;
  const { text = `Yes, it does. Thank you!\n\nInes\n\n${quoted}` } = fields;
  const headers = [
    ...heading({ ...fields, subject }, to),
    ['In-Reply-To', id],
    ['References', id],
  ] as const;
  return written(headed(headers, textPart('text/plain', text)));
}

/**
 * A report about a message that could not be delivered (RFC 3464), as a mail server writes it. Its reason is one that
 * passes: after another one nothing would be sent to the address any more.
 */
function bounce({ message_id: original = '' }: MailFields, to: string): string {
  const id = messageId('message_id', original, to);
  const reason = '452 4.2.2 Mailbox full';
  const told = `This is the mail system at ${RELAY}.\n\nYour message could not be delivered:\n\n${reason}\n`;
  const status = [
    `Reporting-MTA: dns; ${RELAY}`,
    '',
    `Final-Recipient: rfc822; ${RECIPIENT}`,
    'Action: failed',
    'Status: 4.2.2',
    `Diagnostic-Code: smtp; ${reason}`,
  ];
  const returned = [`From: ${to}`, `To: ${RECIPIENT}`, `Message-ID: ${id}`];
  const report = multipart('multipart/report; report-type=delivery-status', [
    textPart('text/plain', told),
    fieldsPart('message/delivery-status', status),
    fieldsPart('text/rfc822-headers', returned),
  ]);
  const from = `Mail Delivery System <MAILER-DAEMON@${RELAY}>`;
  const headers = [
    ['Return-Path', '<>'],
    ...heading({ subject: 'Undelivered Mail Returned to Sender', from }, to),
    ['Auto-Submitted', 'auto-replied'],
  ] as const;
  return written(headed(headers, report));
}

/** What every mail begins with: a Message-ID and a time of its own. */
function heading({ from = PERSON, subject = '' }: MailFields, to: string) {
  return [
    ['From', mailbox(from)],
    ['To', to],
    ['Subject', headerText(subjectLine(subject))],
    ['Date', mailDate()],
    ['Message-ID', `<${uuid()}@mail.example.com>`],
    ['MIME-Version', '1.0'],
  ] as const;
}

function htmlOf(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const paragraphs = escaped.trim().split(/\n{2,}/);
  return paragraphs.map((lines) => `<p>${lines.replaceAll('\n', '<br>\n')}</p>\n`).join('');
}

/** Mails as they come to the address of a project. */
export const mailKinds: readonly MailKind[] = [
  {
    kind: 'email',
    summary: 'A person writes and attaches a file.',
    fields: ['subject', 'from', 'text'],
    required: null,
    isReport: false,
    build: order,
  },
  {
    kind: 'email.reply',
    summary: 'A person replies to your message.',
    fields: ['in_reply_to', 'subject', 'from', 'text'],
    required: 'in_reply_to',
    isReport: false,
    build: reply,
  },
  {
    kind: 'email.bounce',
    summary: 'Your message bounces.',
    fields: ['message_id'],
    required: 'message_id',
    isReport: true,
    build: bounce,
  },
];
