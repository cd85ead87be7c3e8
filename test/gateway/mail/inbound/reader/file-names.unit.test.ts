import { describe, expect, it } from 'vitest';
import { FileNames } from '../../../../../gateway/mail/inbound/reader/file-names.ts';

function named(...given: readonly (string | null)[]): string[] {
  const names = new FileNames();
  return given.map((name) => names.next(name, 'application/pdf'));
}

describe('the name of an attachment', () => {
  it('is the one that was given', () => {
    expect(named('Résumé 2026 (final).pdf', '请求.pdf', '.env', '👩‍💻.txt')).toEqual([
      'Résumé 2026 (final).pdf',
      '请求.pdf',
      '.env',
      '👩‍💻.txt',
    ]);
  });

  it('is no path and hides nothing', () => {
    expect(named('../../etc/passwd', 'C:\\a.txt', 'a\0b\nc.txt', 'invoice\u202efdp.exe')).toEqual([
      '.._.._etc_passwd',
      'C__a.txt',
      'abc.txt',
      'invoicefdp.exe',
    ]);
    expect(named('a.exe. .', 'a.txt:b.exe', 'NUL.txt', 'half \ud800.txt')).toEqual([
      'a.exe',
      'a.txt_b.exe',
      '_NUL.txt',
      'half .txt',
    ]);
  });

  it('is made up where there is none', () => {
    expect(named(null, '', '.', '..', ' ', '\u202e')).toEqual(
      [1, 2, 3, 4, 5, 6].map((number) => `attachment-${number}.bin`),
    );
    expect(new FileNames().next(null, 'message/rfc822')).toBe('attachment-1.eml');
  });

  it('is another for each, whatever its capitals', () => {
    expect(named('a.pdf', 'A.pdf', 'a.pdf', 'a-2.pdf', 'a', 'a')).toEqual([
      'a.pdf',
      'A-2.pdf',
      'a-3.pdf',
      'a-2-2.pdf',
      'a',
      'a-2',
    ]);
  });

  it('has at most 200 bytes and keeps its extension', () => {
    const [first, second, third] = named(
      `${'é'.repeat(300)}.pdf`,
      `${'é'.repeat(300)}.pdf`,
      'x'.repeat(500),
    );
    expect(first).toBe(`${'é'.repeat(98)}.pdf`);
    expect(second).toBe(`${'é'.repeat(97)}-2.pdf`);
    expect(third).toBe('x'.repeat(200));
    expect(named(`a.${'x'.repeat(300)}`)).toEqual([`a.${'x'.repeat(198)}`]);
  });
});
