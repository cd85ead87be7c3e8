import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMail } from '../../../shared/host/outbox-mail.ts';
import { composeMail } from '../../../gateway/mail/compose.ts';
import { askMessage } from '../../../gateway/mail/messages.ts';
import { opened } from '../../gateway/mail/samples.ts';
import { growsInProportion } from '../../helpers/growth.ts';

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

  it('may be no mail at all', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
        expect(readMail(Buffer.from(bytes)).link).toBeNull();
      }),
    );
  });

  it.each([
    (n: number) => ' '.repeat(n * 10),
    (n: number) => '='.repeat(n * 10),
    (n: number) => '\n'.repeat(n * 10),
    (n: number) => '=?utf-8?q?'.repeat(n),
    (n: number) => `Subject: ${'=?utf-8?q?a?= '.repeat(n)}`,
    (n: number) => `Content-Transfer-Encoding: quoted-printable\n\n=${' '.repeat(n * 10)}`,
    (n: number) => `Content-Type: multipart/x; boundary=a\n\n${'--a\n'.repeat(n * 2)}`,
    (n: number) => `Content-Type: multipart/x; ${'boundary='.repeat(n)}\n\n`,
    (n: number) => `Content-Disposition: attachment\nContent-Type: a/b${';name="\\'.repeat(n)}\n\n`,
    (n: number) => `Content-Disposition: attachment\nContent-Type: ${'; name='.repeat(n)}\n\n`,
    (n: number) => `Content-Disposition: attachment\nContent-Type: x;${' '.repeat(n * 10)}y\n\n`,
  ])('is read in a time that grows with it and no faster: %s', (bomb) => {
    const open = (count: number): void =>
      expect(readMail(Buffer.from(bomb(count))).link).toBeNull();
    expect(growsInProportion(open, 100_000)).toBe(true);
  });
});
