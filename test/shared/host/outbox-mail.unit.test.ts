import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMail } from '../../../shared/host/outbox-mail.ts';
import { composeMail } from '../../../gateway/mail/compose.ts';
import { askMessage } from '../../../gateway/mail/messages.ts';
import { opened } from '../../gateway/mail/samples.ts';

const URL = 'http://127.0.0.1:4780/a/t0ken';

const PIECES = [
  'é',
  '=',
  '?',
  ' ',
  '   ',
  '\n',
  '日本',
  '=?',
  '?=',
  '_',
  '.',
  '😀',
  'x'.repeat(70),
];
const words = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((parts) => parts.join('')),
);

describe('a message read back from its file', () => {
  it('is what was written, with the link that is ours', async () => {
    await fc.assert(
      fc.asyncProperty(words, words, async (summary, details) => {
        const { subject, text } = askMessage(opened({ summary, details }), URL);
        const plain = { id: 'ntc_1', from: 'svc@localhost', to: 'ann@example.com' };
        const { raw } = await composeMail({ ...plain, subject, text }, 1000);
        const { headers, ...read } = readMail(raw);
        expect(new Map(headers).get('message-id')).toBe('<ntc_1@localhost>');
        expect(read).toEqual({
          from: plain.from,
          to: plain.to,
          cc: '',
          deliveredTo: null,
          subject: subject.replaceAll('=?', '= ?'),
          date: 1000,
          text,
          html: null,
          attachments: [],
          link: URL,
        });
      }),
      { numRuns: 200 },
    );
  });

  it('may be no mail at all, and is read in no time whatever it is', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
        expect(readMail(Buffer.from(bytes)).link).toBeNull();
      }),
    );
    const bombs = [
      ' '.repeat(1e6),
      '='.repeat(1e6),
      '\n'.repeat(1e6),
      '=?utf-8?q?'.repeat(1e5),
      `Subject: ${'=?utf-8?q?a?= '.repeat(1e5)}`,
      `Content-Transfer-Encoding: quoted-printable\n\n=${' '.repeat(1e6)}`,
      `Content-Type: multipart/x; boundary=a\n\n${'--a\n'.repeat(2e5)}`,
      `Content-Type: multipart/x; ${'boundary='.repeat(1e5)}\n\n`,
      `Content-Disposition: attachment\nContent-Type: a/b${';name="\\'.repeat(1e5)}\n\n`,
      `Content-Disposition: attachment\nContent-Type: ${'; name='.repeat(1e5)}\n\n`,
      `Content-Disposition: attachment\nContent-Type: x;${' '.repeat(1e6)}y\n\n`,
    ];
    for (const bomb of bombs) {
      const started = performance.now();
      expect(readMail(Buffer.from(bomb)).link).toBeNull();
      expect(performance.now() - started).toBeLessThan(1000);
    }
  });
});
