import { describe, expect, it } from 'vitest';
import { replyText } from '../../../../../gateway/mail/inbound/reader/text/reply-text.ts';

const stripped = (...lines: string[]) => replyText(lines.join('\n'));

describe('the new part of a text', () => {
  it.each([
    'On Fri, May 1, 2026 at 10:00 AM Ana Lopez <ana@shop.example> wrote:',
    'Am 01.05.26 um 10:00 schrieb Ana Lopez:',
    'Le ven. 1 mai 2026 à 10:00, Ana Lopez <ana@shop.example> a écrit :',
    'El vie, 1 may 2026 a las 10:00, Ana Lopez (<ana@shop.example>) escribió:',
    'Il giorno ven 1 mag 2026 alle ore 10:00 Ana Lopez <ana@shop.example> ha scritto:',
    'Op vr 1 mei 2026 om 10:00 schreef Ana Lopez <ana@shop.example>:',
    'Em sex., 1 de mai. de 2026 às 10:00, Ana Lopez <ana@shop.example> escreveu:',
    'Den fre 1 maj 2026 kl 10:00 skrev Ana Lopez <ana@shop.example>:',
    'pt., 1 maj 2026 o 10:00 Ana Lopez <ana@shop.example> napisał(a):',
    'пт, 1 мая 2026 г. в 10:00, Ana Lopez <ana@shop.example>:',
    '2026年5月1日(金) 10:00 Ana Lopez <ana@shop.example>:',
    'Ana Lopez <ana@shop.example> 于2026年5月1日周五 10:00写道：',
    'On Monday Bob wrote:',
    'Am Montag schrieb Bob Müller:',
    'Le lundi, Bob a écrit :',
  ])('is what stands above a quoted mail: %s', (introduction) => {
    expect(stripped('Yes, please.', '', introduction, '> Shall we?', '> Ana')).toBe('Yes, please.');
  });

  it('stands above an introduction that is broken over lines', () => {
    const introduction = [
      'On Fri, May 1, 2026 at 10:00 AM',
      'Ana Lopez <ana@shop.example>',
      'wrote:',
    ];
    expect(stripped('Yes.', '', ...introduction, '', '> Shall we?')).toBe('Yes.');
  });

  it('stands above a mail that is not quoted line by line', () => {
    const introduction = 'On Fri, May 1, 2026 at 10:00 AM Ana <ana@shop.example> wrote:';
    expect(stripped('Yes.', '', introduction, '', 'Shall we?')).toBe('Yes.');
    expect(stripped('Yes.', '', '-----Original Message-----', 'From: Ana', 'Shall we?')).toBe(
      'Yes.',
    );
    const outlook = ['From: Ana', 'Sent: Friday', 'To: Bo', 'Subject: Shall we', '', 'Shall we?'];
    expect(stripped('Yes.', '', ...outlook)).toBe('Yes.');
    const german = ['Von: Ana', 'Gesendet: Freitag', 'An: Bo', 'Betreff: Sollen wir', '', 'Und?'];
    expect(stripped('Ja.', '', ...german)).toBe('Ja.');
  });

  it('stands below a quoted mail', () => {
    const introduction = 'On 1 May 2026, ana@shop.example wrote:';
    expect(stripped(introduction, '> Shall we?', '', 'Yes.', '', '> Ana')).toBe('Yes.');
    expect(stripped('> Shall we?', 'Yes.')).toBe('Yes.');
  });

  it('has what is quoted between answers', () => {
    const text = ['Hello,', '> Shall we?', 'Yes.', '> When?', 'Now.'];
    expect(stripped(...text, '', '> Ana')).toBe(text.join('\n'));
  });

  it('has no signature', () => {
    expect(stripped('Yes.', '', '-- ', 'Bo', 'Shop Ltd.')).toBe('Yes.');
    expect(stripped('Yes.', '--', 'Bo')).toBe('Yes.');
    expect(stripped('Yes.', '-- ', 'Bo', '', 'On 1 May 2026, ana@shop.example wrote:', '> a')).toBe(
      'Yes.',
    );
    const table = ['a', '--', ...Array.from({ length: 12 }, () => 'row')];
    expect(stripped(...table)).toBe(table.join('\n'));
  });

  it('is the whole where nothing else is left', () => {
    expect(stripped('> Shall we?', '> Ana')).toBe('> Shall we?\n> Ana');
    expect(stripped('-- ', 'Bo')).toBe('-- \nBo');
    const forwarded = ['---------- Forwarded message ---------', 'From: Ana', 'Shall we?'];
    expect(stripped(...forwarded)).toBe(forwarded.join('\n'));
    expect(replyText(' ')).toBe(' ');
    expect(replyText('')).toBe('');
  });

  it('has what only looks like a quote', () => {
    for (const text of [
      'In 2019 the author wrote:\nAll is well.',
      'From: the beginning of May we are closed.\nPlease order before.',
      'Items:\n1. apples\n2. pears',
      'See section 2 below:\ntext',
      'a > b\nb < c',
      'On Monday Bob wrote:\nAll is well.',
      `On ${'and on '.repeat(20)}wrote:\n\n> a\n\nb`,
    ]) {
      expect(replyText(text)).toBe(text);
    }
  });
});
