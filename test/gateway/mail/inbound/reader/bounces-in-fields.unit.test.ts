import { describe, expect, it } from 'vitest';
import {
  ID,
  form,
  daemon,
  parts,
  TEXT,
  COPY,
  HEADERS,
  status,
  FAILED,
  report,
  REPORT,
  found,
  type Form,
} from './bounce-form.ts';

const FORMS: readonly Form[] = [
  report('Postfix', 'failed 5.1.1 fields', parts(REPORT, TEXT, FAILED, COPY)),
  report(
    'a copy of another type',
    'failed 5.1.1 fields',
    parts(REPORT, TEXT, FAILED, ['application/octet-stream', COPY[1]]),
  ),
  report('Postfix, the header only', 'failed 5.1.1 fields', parts(REPORT, TEXT, FAILED, HEADERS)),
  report('no report-type', 'failed 5.1.1 fields', parts('multipart/report', TEXT, FAILED, COPY)),
  report('multipart/mixed', 'failed 5.1.1 fields', parts('multipart/mixed', TEXT, FAILED, COPY)),
  report(
    'Exchange Online',
    'failed 5.1.10 fields',
    parts(
      REPORT,
      ['text/html', '<p>Your message couldn’t be delivered.'],
      status(
        'Final-Recipient: rfc822;gone@partner.example',
        'Action: failed',
        'Status: 5.1.10',
        'Diagnostic-Code: smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; not found',
      ),
      COPY,
    ),
    'Undeliverable: Order',
  ),
  report(
    'Gmail',
    'failed 5.1.1 fields',
    parts(REPORT, TEXT, [
      'message/delivery-status',
      `Reporting-MTA: dns; googlemail.example\nX-Original-Message-ID: <${ID}>\n\nFinal-Recipient: rfc822; gone@partner.example\nAction: failed\nStatus: 5.1.1\n`,
    ]),
    'Delivery Status Notification (Failure)',
  ),
  report(
    'Gmail, a delay',
    'delayed 4.4.1 fields',
    parts(
      REPORT,
      TEXT,
      status('Final-Recipient: rfc822; gone@partner.example', 'Action: delayed', 'Status: 4.4.1'),
      COPY,
    ),
    'Delivery Status Notification (Delay)',
  ),
  report(
    'Amazon SES, which has replaced the Message-ID',
    'failed 5.1.1 fields',
    parts(REPORT, TEXT, FAILED, [
      'message/rfc822',
      `Message-ID: <0100@ses.example>\nReferences: <${ID}>\n\nHello.`,
    ]),
  ),
  report(
    'sendmail',
    'failed 5.1.1 fields',
    parts(
      REPORT,
      [
        'text/plain',
        '   ----- The following addresses had permanent fatal errors -----\n<gone@partner.example>',
      ],
      FAILED,
      COPY,
    ),
    'Returned mail: see transcript for details',
  ),
  report(
    'an action with a remark',
    'failed 5.1.1 fields',
    parts(
      REPORT,
      TEXT,
      status(
        'Final-Recipient: rfc822; gone@partner.example',
        'Action: failed (bad destination mailbox address)',
        'Status: 5.1.1',
      ),
      COPY,
    ),
  ),
  report(
    'no action',
    'failed 5.2.1 fields',
    parts(
      REPORT,
      TEXT,
      status('Final-Recipient: rfc822; gone@partner.example', 'Status: 5.2.1'),
      COPY,
    ),
  ),
  report(
    'no action, for now',
    'delayed 4.4.1 fields',
    parts(
      REPORT,
      TEXT,
      status('Final-Recipient: rfc822; gone@partner.example', 'Status: 4.4.1'),
      COPY,
    ),
  ),
  report(
    'the original recipient only',
    'failed 5.1.1 fields',
    parts(
      REPORT,
      TEXT,
      status('Original-Recipient: rfc822; gone@partner.example', 'Action: failed', 'Status: 5.1.1'),
      COPY,
    ),
  ),
  report(
    'no line between the groups',
    'failed 5.1.1 fields',
    parts(
      REPORT,
      TEXT,
      [
        'message/delivery-status',
        'Reporting-MTA: dns; mx\nFinal-Recipient: rfc822; gone@partner.example\nAction: failed\nStatus: 5.1.1\n',
      ],
      COPY,
    ),
  ),
  report(
    'in UTF-8',
    'failed 5.1.1 fields',
    parts(REPORT, TEXT, ['message/global-delivery-status', FAILED[1]], COPY),
  ),
  report(
    'a report without its status',
    'failed 5.1.1 words',
    parts(REPORT, ['text/plain', '<gone@partner.example>: 550 5.1.1 user unknown'], COPY),
  ),
  report(
    'arrived',
    'relayed null fields',
    parts(
      REPORT,
      TEXT,
      status('Final-Recipient: rfc822; gone@partner.example', 'Action: relayed'),
      COPY,
    ),
    'Successful Mail Delivery Report',
  ),
  form(
    'nothing of the mail',
    'failed 5.1.1 fields',
    [...daemon('Undelivered Mail'), ...parts('multipart/report').head],
    parts('', TEXT, FAILED).body,
    false,
  ),
  form(
    'a complaint without report-type',
    'complaint null fields',
    ['From: feedback@isp.example', ...parts('multipart/report').head],
    parts('', TEXT, ['message/feedback-report', 'Feedback-Type: abuse\nVersion: 1\n'], COPY).body,
  ),
  form(
    'the status alone',
    'failed 5.1.1 fields',
    ['From: MAILER-DAEMON', 'Content-Type: message/delivery-status'],
    FAILED[1],
    false,
  ),
];

describe('a report in the fields that standards define', () => {
  it.each(FORMS)('is understood: $who: $says', async (one) => {
    expect(await found(one)).toEqual([one.says, one.knows ? `<${ID}>` : null]);
  });
});
