import { readOffline } from './read-offline.ts';

/** The Message-ID of the mail that the reports are about. */
export const ID = 'msg_01j9z3k4m5n6p7q8r9s0t1v2w3@inbox.example';

export interface Form {
  readonly who: string;
  readonly head: readonly string[];
  readonly body: string;
  /** What it says of the first recipient, and what says so; `null` if it's no report. */
  readonly says: string;
  /** Whether it has the Message-ID of that mail. */
  readonly knows: boolean;
}

export const form = (
  who: string,
  says: string,
  head: readonly string[],
  body: string,
  knows = true,
): Form => ({ who, says, head, body, knows });

export const daemon = (subject: string, at = 'mx.partner.example') => [
  `From: MAILER-DAEMON@${at}`,
  `Subject: ${subject}`,
];

export const nobody = (subject: string, from = 'postmaster@partner.example') => [
  'Return-Path: <>',
  `From: ${from}`,
  `Subject: ${subject}`,
];

export function parts(type: string, ...all: readonly (readonly [type: string, body: string])[]) {
  const body = all.map(([one, text]) => `--b\nContent-Type: ${one}\n\n${text}\n`).join('');
  return {
    head: ['MIME-Version: 1.0', `Content-Type: ${type}; boundary=b`],
    body: `${body}--b--\n`,
  };
}

export const TEXT = ['text/plain', 'It could not be delivered.'] as const;
export const COPY = ['message/rfc822', `Message-ID: <${ID}>\nSubject: Order\n\nHello.`] as const;
export const HEADERS = ['text/rfc822-headers', `Message-ID: <${ID}>\nSubject: Order\n`] as const;

export const status = (...lines: readonly string[]) =>
  [
    'message/delivery-status',
    ['Reporting-MTA: dns; mx.partner.example', '', ...lines, ''].join('\n'),
  ] as const;

export const FAILED = status(
  'Final-Recipient: rfc822; gone@partner.example',
  'Action: failed',
  'Status: 5.1.1',
);

export function report(
  who: string,
  says: string,
  given: ReturnType<typeof parts>,
  subject = 'Undelivered Mail Returned to Sender',
): Form {
  return form(who, says, [...daemon(subject), ...given.head], given.body);
}

export const REPORT = 'multipart/report; report-type=delivery-status';

/** What the reader finds in a form: its result, and the id of the mail that it's about. */
export async function found({ head, body }: Form): Promise<readonly [string, string | null]> {
  // In Sender an address counts as much, and nobody asks the DNS about its domain.
  const own = head.map((line) => line.replace(/^From:/, 'Sender:'));
  const raw = ['To: demo@inbox.example', ...own, '', body].join('\r\n').replace(/\r?\n/g, '\r\n');
  const { report: read } = await readOffline(Buffer.from(raw).toString('latin1'));
  if (read === null) return ['null', null];
  const [first] = read.recipients;
  return [`${first?.action} ${first?.status} ${read.basis}`, read.original_message_id];
}
