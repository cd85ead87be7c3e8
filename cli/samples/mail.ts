import { mailDate, uuid } from '../../shared/lib/samples/fresh.ts';
import { mailbox, messageId, subjectLine, type MailField, type MailFields } from './mail-fields.ts';
import { fieldsPart, headed, headerText, multipart, textPart, written } from './mime.ts';

/** A mail that `svc trigger` can send. */
export interface MailKind {
  /** `email.reply` */
  readonly kind: string;
  readonly summary: string;
  readonly fields: readonly MailField[];
  /** A field that the mail can't be built without. */
  readonly required: MailField | null;
  /** A delivery report doesn't become an event of its own: it updates the sent message. */
  readonly isReport: boolean;
  /** Builds the whole mail, to a project's address. */
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
 * A mail server's report that a message wasn't delivered (RFC 3464). Its reason is temporary, because after a permanent
 * one svc wouldn't send to the address again.
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

/** The headers of every mail, with a new Message-ID and the current time. */
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

/** Mails as they arrive at a project's address. */
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
