import { describe, expect, it } from 'vitest';
import { readOffline } from './read-offline.ts';
import { mailOf } from './signed-mail.ts';

async function reportOf(type: string, parts: readonly (readonly [type: string, body: string])[]) {
  const body = parts.map(([part, text]) => `--b\r\nContent-Type: ${part}\r\n\r\n${text}\r\n`);
  const fields = {
    From: null,
    'Content-Type': `multipart/report; report-type=${type};\r\n boundary=b`,
  };
  return (await readOffline(mailOf(fields, `${body.join('')}--b--\r\n`))).report;
}

const TEXT = ['text/plain', 'It could not be delivered.'] as const;
const ORIGINAL = [
  'message/rfc822',
  'Received: by x\r\n (folded)\r\nMessage-ID:\r\n <msg_1@inbox.example>\r\nSubject: Hi\r\n\r\nMessage-ID: <no@x>',
] as const;

function recipient(...lines: readonly string[]): string {
  return ['Reporting-MTA: dns; mx.example', '', ...lines, ''].join('\r\n');
}

const FAILED = recipient(
  'Original-Recipient: rfc822;bo@b.example',
  'Final-Recipient: rfc822; bo@elsewhere.example',
  'Action: Failed',
  'Status: 5.1.1 (no such user)',
  'Remote-MTA: dns; mx.b.example',
  'Diagnostic-Code: smtp; 550 5.1.1 <bo@b.example>:\r\n Recipient address\r\n\trejected',
);

function feedback(...lines: readonly string[]) {
  const all = ['User-Agent: SomeISP/1.0', 'Version: 1', ...lines, ''];
  return ['message/feedback-report', all.join('\r\n')] as const;
}

describe('a report of a delivery', () => {
  it('says what became of a mail', async () => {
    const report = await reportOf('delivery-status', [
      TEXT,
      ['message/delivery-status', FAILED],
      ORIGINAL,
    ]);
    expect(report).toEqual({
      kind: 'delivery',
      basis: 'fields',
      original_message_id: '<msg_1@inbox.example>',
      recipients: [
        {
          address: 'bo@b.example',
          action: 'failed',
          status: '5.1.1',
          diagnostic: '550 5.1.1 <bo@b.example>: Recipient address rejected',
        },
      ],
    });
  });

  it('may name several, and have of the mail its header only', async () => {
    const status = `${FAILED}\r\nFinal-Recipient: rfc822;di@b.example\r\nAction: delayed\r\nStatus: 4.4.1\r\n`;
    const report = await reportOf('"delivery-status"', [
      TEXT,
      ['message/delivery-status', status],
      ['text/rfc822-headers', 'Message-ID: <msg_2@inbox.example>'],
    ]);
    expect(report).toMatchObject({
      original_message_id: '<msg_2@inbox.example>',
      recipients: [
        { address: 'bo@b.example' },
        { address: 'di@b.example', action: 'delayed', status: '4.4.1', diagnostic: null },
      ],
    });
  });

  it('is taken at its word only where it has one', async () => {
    const odd = recipient(
      'Final-Recipient: x-local; someone',
      'Action: relayed',
      'Status: ok',
      `Diagnostic-Code: smtp; ${'x '.repeat(600)}\u202e`,
    );
    const report = await reportOf('delivery-status', [['message/delivery-status', odd]]);
    expect(report).toMatchObject({
      original_message_id: null,
      recipients: [{ address: null, action: 'relayed', status: null }],
    });
    expect(Array.from(report?.recipients[0]?.diagnostic ?? '')).toHaveLength(500);

    const many = Array.from({ length: 150 }, (_, index) =>
      recipient(`Final-Recipient: rfc822; n${index}@x.example`, 'Action: failed'),
    ).join('\r\n');
    const long = await reportOf('delivery-status', [['message/delivery-status', many]]);
    expect(long?.recipients).toHaveLength(100);
  });

  it('is none where it only looks like one', async () => {
    const status = ['message/delivery-status', FAILED] as const;
    expect(await reportOf('disposition-notification', [status])).toBe(null);
    expect(await reportOf('delivery-status', [TEXT, ORIGINAL])).toBe(null);
    const done = recipient('Final-Recipient: rfc822; bo@b.example', 'Action: exploded');
    expect(await reportOf('delivery-status', [['message/delivery-status', done]])).toBe(null);
  });
});

describe('a complaint', () => {
  it('says who complains of which mail', async () => {
    const lines = [
      'Feedback-Type: abuse',
      'Original-Rcpt-To: <bo@b.example>',
      'Original-Rcpt-To: di@b.example',
    ];
    expect(await reportOf('feedback-report', [TEXT, feedback(...lines), ORIGINAL])).toEqual({
      kind: 'complaint',
      basis: 'fields',
      original_message_id: '<msg_1@inbox.example>',
      recipients: ['bo@b.example', 'di@b.example'].map((address) => ({
        address,
        action: 'complaint',
        status: null,
        diagnostic: null,
      })),
    });
  });

  it('may keep to itself who complains', async () => {
    const report = await reportOf('feedback-report', [feedback('Feedback-Type: fraud'), ORIGINAL]);
    expect(report?.recipients).toEqual([
      { address: null, action: 'complaint', status: null, diagnostic: null },
    ]);
  });

  it('is none where it takes one back or says nothing', async () => {
    expect(await reportOf('feedback-report', [feedback('Feedback-Type: not-spam'), ORIGINAL])).toBe(
      null,
    );
    expect(await reportOf('feedback-report', [feedback('Feedback-Type: auth-failure')])).toBe(null);
    expect(await reportOf('feedback-report', [feedback()])).toBe(null);
    expect(await reportOf('feedback-report', [TEXT, ORIGINAL])).toBe(null);
  });
});
