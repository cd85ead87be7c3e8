import { describe, expect, it } from 'vitest';
import { readOffline } from './read-offline.ts';
import { mailOf } from './signed-mail.ts';

/** The new text of a mail in a thread. */
async function strippedOf(subject: string, text: string): Promise<string | null> {
  const fields = {
    From: null,
    Subject: subject,
    'Content-Type': 'text/plain; charset=utf-8',
    'In-Reply-To': '<q@vendor.example>',
    References: '<q@vendor.example>',
  };
  const bytes = Buffer.from(mailOf(fields, text.replaceAll('\n', '\r\n'))).toString('latin1');
  return (await readOffline(bytes)).payload.text_stripped;
}

const BILLING = 'Billing <billing@vendor.example>';
const OUTLOOK = `From: ${BILLING}\nSent: Wednesday, November 25, 2026\nTo: Ana\nSubject: Invoice`;

/** Above the header block that Outlook writes for both, the prefix of the subject decides. */
const SUBJECTS: readonly string[] = [
  'FS: Reikningur',
  'ML: Anfoneb',
  'Redirecționare: Factura',
  'Proslijeđeno: Račun',
  'Posredovano: Račun',
  'Препратено: Фактура',
  'Chuyển tiếp: Hóa đơn',
  'ส่งต่อ: ใบแจ้งหนี้',
  'Wowote: in a language that nobody knows',
  '[EXTERNAL EMAIL] - FW: Invoice',
  '[Ticket#12345]: FW: Invoice',
  '[EXT]FW: Invoice',
];

/** Lines above a mail that is sent on, whatever the subject says. */
const MARKS: readonly string[] = [
  '---------- Yönlendirilmiş ileti ----------',
  '---------- İletilen mesaj ----------',
  '---------- Thư chuyển tiếp ---------',
  '---------- ข้อความที่ส่งต่อ ---------',
  '---------- Pesan terusan ---------',
  '---------- Препратено съобщение ---------',
  '---------- Proslijeđena poruka ---------',
  '---------- Прослеђена порука ---------',
  '---------- Posredovano sporočilo ---------',
  '---------- Persiųstas laiškas ---------',
  '---------- Pārsūtīts ziņojums ---------',
  '---------- Edastatud kiri ---------',
  '---------- Missatge reenviat ---------',
  '---------- Пересланное сообщение ---------',
  '-------- Перенаправлене повідомлення --------',
  '-------- 转发的消息 --------',
  '----- Mail transféré -----',
  'Rozpoczęcie przekazywanej wiadomości:',
  'İletilmiş mesajın başlangıcı:',
  'תחילת ההודעה המועברת:',
  'Έναρξη προωθημένου μηνύματος:',
  'เริ่มข้อความที่ส่งต่อ:',
  'Початок листа, який пересилається:',
];

describe('a mail that is sent on keeps what it forwards', () => {
  it.each(SUBJECTS)('below the subject %s', async (subject) => {
    const text = `Please pay this one.\n\n${OUTLOOK}\n\nAmount due: EUR 412.50`;
    expect(await strippedOf(subject, text)).toBe(text);
  });

  it.each(MARKS)('below the line %s', async (mark) => {
    const quoted = `> From: ${BILLING}\n> Subject: Invoice\n>\n> Amount due: EUR 412.50`;
    for (const sent of [quoted, quoted.replaceAll(/^> ?/gm, '')]) {
      const text = `Please pay this one.\n\n${mark}\n\n${sent}`;
      expect(await strippedOf('Invoice', text)).toBe(text);
    }
  });
});

const FROM_HEBREW =
  '\u202bבתאריך יום ד׳, 25 בנוב׳ 2026 ב-10:12 מאת \u202aBilling\u202c\u200f <\u202abilling@vendor.example\u202c\u200f>:\u202c';

const QUOTES: readonly (readonly [subject: string, quote: string])[] = [
  ['Re: Invoice', `${FROM_HEBREW}\n\n> Amount due`],
  ['Re: Рахунок', `ср, 25 лист. 2026 р. о 10:12 ${BILLING} пише:\n\n> Amount due`],
  ['TL: Hóa đơn', `Vào Th 4, 25 thg 11, 2026 vào lúc 10:12 ${BILLING} đã viết:\n\n> Amount due`],
  ['Re: Faktur', `Pada tanggal Rab, 25 Nov 2026 pukul 10.12 ${BILLING} menulis:\n\n> Amount due`],
  ['Odg: Račun', `${OUTLOOK}\n\nAmount due`],
  [
    'Re: Invoice',
    `**From: **${BILLING}\n**Date: **Wednesday\n**To: **Ana\n**Subject: **Invoice\n\nAmount due`,
  ],
  ['Re: Invoice', `________________________________\n${OUTLOOK}\n\nAmount due`],
];

describe('a mail that answers', () => {
  it.each(QUOTES)('has no quoted mail in its new text: %s: %j', async (subject, quote) => {
    expect(await strippedOf(subject, `Paid today.\n\n${quote}`)).toBe('Paid today.');
  });
});
