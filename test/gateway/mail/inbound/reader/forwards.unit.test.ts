import { describe, expect, it } from 'vitest';
import { readOffline } from './read-offline.ts';
import { mailOf } from './signed-mail.ts';

/** What a program puts between a note and the mail that stands below it. */
type Form = readonly [program: string, subject: string, marks: string, headers?: 'answers'];

async function strippedOf(subject: string, text: string, answers: boolean): Promise<string | null> {
  const fields = {
    From: null,
    Subject: subject,
    'Content-Type': 'text/plain; charset=utf-8',
    ...(answers && { 'In-Reply-To': '<q@vendor.example>', References: '<q@vendor.example>' }),
  };
  const bytes = Buffer.from(mailOf(fields, text.replaceAll('\n', '\r\n'))).toString('latin1');
  return (await readOffline(bytes)).payload.text_stripped;
}

const block = (...lines: readonly string[]) => lines.join('\n');

const ENGLISH = block(
  'From: Billing <billing@vendor.example>',
  'Date: Wed, Nov 25, 2026 at 10:12 AM',
  'Subject: Invoice 2026-117',
  'To: <ana@x.example>',
);
const OUTLOOK = block(
  'From: Billing <billing@vendor.example>',
  'Sent: Wednesday, November 25, 2026 10:12 AM',
  'To: Ana <ana@x.example>',
  'Subject: Invoice 2026-117',
);
const GERMAN = block(
  'Von: Billing <billing@vendor.example>',
  'Gesendet: Mittwoch, 25. November 2026 10:12',
  'An: Ana <ana@x.example>',
  'Betreff: Rechnung 2026-117',
);

const FORWARDS: readonly Form[] = [
  ['Gmail', 'Fwd: Invoice', `---------- Forwarded message ---------\n${ENGLISH}`],
  [
    'Gmail, in a thread',
    'Fwd: Invoice',
    `---------- Forwarded message ---------\n${ENGLISH}`,
    'answers',
  ],
  ['Gmail, another subject', 'Please pay', `---------- Forwarded message ---------\n${ENGLISH}`],
  [
    'Gmail, French',
    'Fwd: Facture',
    `---------- Message transféré ---------\nDe : Billing <billing@vendor.example>\nDate : mer. 25 nov. 2026 à 10:12\nObjet : Facture\nÀ : <ana@x.example>`,
  ],
  [
    'Gmail, Portuguese',
    'Pagar',
    `---------- Mensagem encaminhada ---------\nDe: Billing <billing@vendor.example>`,
  ],
  [
    'Gmail, Japanese',
    'お支払い',
    '---------- 転送メッセージ ---------\n差出人： Billing <billing@vendor.example>',
  ],
  [
    'Gmail, Korean',
    '결제',
    '---------- 전달된 메시지 ---------\n보낸사람: Billing <billing@vendor.example>',
  ],
  [
    'Gmail, Hebrew',
    'לתשלום',
    '---------- הודעה שהועברה ---------\nמאת: Billing <billing@vendor.example>',
  ],
  ['Outlook', 'FW: Invoice', OUTLOOK],
  ['Outlook, in a thread', 'FW: Invoice', OUTLOOK, 'answers'],
  [
    'Outlook with a rule above',
    'FW: Invoice',
    `________________________________\n${OUTLOOK}`,
    'answers',
  ],
  ['Outlook, old', 'FW: Invoice', `-----Original Message-----\n${OUTLOOK}`, 'answers'],
  ['Outlook, no prefix and no thread', 'Please pay', OUTLOOK],
  ['Outlook, German', 'WG: Rechnung', GERMAN, 'answers'],
  [
    'Outlook, French',
    'TR : Facture',
    'De : Billing <billing@vendor.example>\nEnvoyé : mercredi 25 novembre 2026 10:12\nÀ : Ana <ana@x.example>\nObjet : Facture',
    'answers',
  ],
  [
    'Outlook, Spanish',
    'RV: Factura',
    'De: Billing <billing@vendor.example>\nEnviado el: miércoles, 25 de noviembre de 2026 10:12\nPara: Ana\nAsunto: Factura',
    'answers',
  ],
  [
    'Outlook, Italian',
    'I: Fattura',
    'Da: Billing <billing@vendor.example>\nInviato: mercoledì 25 novembre 2026 10:12\nA: Ana\nOggetto: Fattura',
    'answers',
  ],
  [
    'Outlook, Brazilian',
    'ENC: Fatura',
    'De: Billing <billing@vendor.example>\nEnviada em: quarta-feira, 25 de novembro de 2026 10:12\nPara: Ana\nAssunto: Fatura',
    'answers',
  ],
  [
    'Outlook, Swedish',
    'VB: Faktura',
    'Från: Billing <billing@vendor.example>\nSkickat: den 25 november 2026 10:12\nTill: Ana\nÄmne: Faktura',
    'answers',
  ],
  [
    'Outlook, Danish',
    'VS: Faktura',
    'Fra: Billing <billing@vendor.example>\nSendt: 25. november 2026 10:12\nTil: Ana\nEmne: Faktura',
    'answers',
  ],
  [
    'Outlook, Finnish',
    'VL: Lasku',
    'Lähettäjä: Billing <billing@vendor.example>\nLähetetty: 25. marraskuuta 2026 10:12\nVastaanottaja: Ana\nAihe: Lasku',
    'answers',
  ],
  [
    'Outlook, Dutch',
    'Doorst: Factuur',
    'Van: Billing <billing@vendor.example>\nVerzonden: woensdag 25 november 2026 10:12\nAan: Ana\nOnderwerp: Factuur',
    'answers',
  ],
  [
    'Outlook, Polish',
    'PD: Faktura',
    'Od: Billing <billing@vendor.example>\nWysłano: środa, 25 listopada 2026 10:12\nDo: Ana\nTemat: Faktura',
    'answers',
  ],
  [
    'Outlook, Hungarian',
    'Továbbítás: Számla',
    'Feladó: Billing <billing@vendor.example>\nElküldve: 2026. november 25., szerda 10:12\nCímzett: Ana\nTárgy: Számla',
    'answers',
  ],
  [
    'Outlook, Turkish',
    'İLT: Fatura',
    'Kimden: Billing <billing@vendor.example>\nGönderildi: 25 Kasım 2026 Çarşamba 10:12\nKime: Ana\nKonu: Fatura',
    'answers',
  ],
  [
    'Outlook, Chinese',
    '转发: 发票',
    '发件人: Billing <billing@vendor.example>\n发送时间: 2026年11月25日 10:12\n收件人: Ana\n主题: 发票',
    'answers',
  ],
  [
    'Outlook, Greek',
    'ΠΡΘ: Τιμολόγιο',
    'Από: Billing <billing@vendor.example>\nΣτάλθηκε: Τετάρτη, 25 Νοεμβρίου 2026\nΠρος: Ana\nΘέμα: Τιμολόγιο',
    'answers',
  ],
  ['behind a mark of the server', '[EXTERNAL] FW: Invoice', OUTLOOK, 'answers'],
  [
    'sent on twice',
    'FW: Fwd: Re: Invoice',
    `${OUTLOOK}\n\nSee below.\n\n---------- Forwarded message ---------\n${ENGLISH}`,
    'answers',
  ],
  [
    'Apple Mail',
    'Fwd: Invoice',
    `Begin forwarded message:\n\n> From: Billing <billing@vendor.example>\n> Subject: Invoice\n> Date: 25 November 2026 at 10:12:00 CET\n> \n> See the sum below.`,
  ],
  [
    'Apple Mail, German',
    'Rechnung',
    `Anfang der weitergeleiteten Nachricht:\n\nVon: Billing <billing@vendor.example>\nBetreff: Rechnung`,
  ],
  [
    'Apple Mail, French',
    'Facture',
    'Début du message transféré :\n\nDe: Billing <billing@vendor.example>\nObjet: Facture',
  ],
  [
    'Apple Mail, Danish',
    'Faktura',
    'Start på videresendt besked:\n\nFra: Billing <billing@vendor.example>',
  ],
  ['Apple Mail, Chinese', '发票', '转发的邮件：\n\n发件人: Billing <billing@vendor.example>'],
  [
    'Thunderbird',
    'Fwd: Invoice',
    `-------- Forwarded Message --------\nSubject: \tInvoice\nDate: \tWed, 25 Nov 2026 10:12:00 +0100\nFrom: \tBilling <billing@vendor.example>\nTo: \tana@x.example`,
  ],
  [
    'Thunderbird, old',
    '[Fwd: Invoice]',
    `-------- Original Message --------\nSubject: Invoice\nFrom: Billing <billing@vendor.example>`,
  ],
  [
    'Thunderbird, German',
    'Rechnung',
    '-------- Weitergeleitete Nachricht --------\nBetreff: \tRechnung\nVon: \tBilling <billing@vendor.example>',
  ],
  ['Yahoo', 'Fw: Invoice', `----- Forwarded Message -----\n${OUTLOOK}`],
  [
    'Proton Mail',
    'Fw: Invoice',
    `------- Forwarded Message -------\nFrom: Billing <billing@vendor.example>\nDate: On Wednesday, November 25th, 2026 at 10:12 AM\nSubject: Invoice`,
  ],
  [
    'GMX',
    'Fw: Rechnung',
    'Gesendet: Mittwoch, 25. November 2026 um 10:12 Uhr\nVon: Billing <billing@vendor.example>\nAn: ana@x.example\nBetreff: Rechnung',
    'answers',
  ],
  ['Zimbra', 'Fwd: Invoice', `----- Forwarded Message -----\n${OUTLOOK}`, 'answers'],
  ['Roundcube', 'Fwd: Invoice', `-------- Original Message --------\n${ENGLISH}`],
  [
    'Fastmail',
    'Fwd: Invoice',
    `----- Original message -----\nFrom: Billing <billing@vendor.example>\nTo: ana@x.example\nSubject: Invoice`,
  ],
  [
    'Samsung Mail',
    'Fwd: Invoice',
    `-------- Original message --------\nFrom: Billing <billing@vendor.example>\nDate: 25/11/2026 10:12 (GMT+01:00)`,
  ],
  [
    'Lotus Notes',
    'Fw: Invoice',
    '----- Forwarded by Ana Lopez/X/Shop on 11/25/2026 10:12 AM -----\n\nFrom:   Billing\nTo:     Ana',
  ],
  [
    'Lotus Notes, German',
    'Rechnung',
    '----- Weitergeleitet von Ana Lopez/X/Shop am 25.11.2026 10:12 -----\n\nVon: Billing',
  ],
  ['mutt', 'Invoice', '----- Forwarded message from Billing <billing@vendor.example> -----'],
  [
    'Pine',
    'Invoice (fwd)',
    '---------- Forwarded message ----------\nDate: Wed, 25 Nov 2026 10:12:00 +0100\nFrom: Billing',
  ],
  [
    'Pegasus Mail',
    '(Fwd) Invoice',
    '------- Forwarded message follows -------\nFrom:   Billing\nTo:     Ana',
  ],
  [
    'Gnus',
    'Invoice',
    '-------------------- Start of forwarded message --------------------\nFrom: Billing',
  ],
  [
    'The Bat!',
    'Fwd: Invoice',
    'This is a forwarded message\nFrom: Billing <billing@vendor.example>\nTo: Ana',
  ],
  [
    'Mail.ru',
    'Fwd: Счёт',
    '-------- Пересылаемое сообщение --------\nОт кого: Billing <billing@vendor.example>',
  ],
  [
    'Yandex',
    'Счёт',
    '-------- Начало пересылаемого сообщения --------\n25.11.2026, 10:12, "Billing"',
  ],
  [
    'QQ Mail',
    '转发：发票',
    '------------------ 原始邮件 ------------------\n发件人: "Billing" <billing@vendor.example>;\n发送时间: 2026年11月25日',
    'answers',
  ],
  [
    'Naver',
    'Fwd: 청구서',
    '-----Original Message-----\nFrom: Billing <billing@vendor.example>\nTo: Ana',
  ],
  [
    'a signature above',
    'Fwd: Invoice',
    `-- \nAna\n\n---------- Forwarded message ---------\n${ENGLISH}`,
  ],
  [
    'a signature above, no prefix',
    'Please pay',
    `-- \nAna\n\n-----Original Message-----\n${OUTLOOK}`,
  ],
  [
    'Apple Mail, from HTML',
    'Invoice',
    '> Begin forwarded message:\n>\n> From: Billing\n> Invoice:',
  ],
  ['behind a mark in stars', '**EXTERNAL** FW: Invoice', OUTLOOK, 'answers'],
  ['behind a mark with a colon', 'EXT: Fwd: Invoice', OUTLOOK, 'answers'],
  ['quoted line by line', 'Fwd: Invoice', '> From: Billing\n> Your invoice:'],
];

describe('a mail that is sent on', () => {
  it.each(FORWARDS)(
    'keeps what it forwards: %s: %s',
    async (_program, subject = '', marks = '', answers = '') => {
      const text = `Please pay this one.\n\n${marks}\n\nAmount due: EUR 412.50`;
      expect(await strippedOf(subject, text, answers === 'answers')).toBe(text);
    },
  );
});

const REPLIES: readonly Form[] = [
  [
    'Gmail',
    'Re: Invoice',
    'On Wed, Nov 25, 2026 at 10:12 AM, Billing <billing@vendor.example> wrote:\n> Amount due',
  ],
  [
    'Gmail, no prefix',
    'Invoice',
    'On Wed, Nov 25, 2026 at 10:12 AM Billing <billing@vendor.example> wrote:\n> Amount due',
    'answers',
  ],
  ['Outlook', 'RE: Invoice', OUTLOOK, 'answers'],
  [
    'Outlook to a mail that was sent on',
    'RE: FW: Invoice',
    `${OUTLOOK}\n\n---------- Forwarded message ---------`,
    'answers',
  ],
  ['Outlook, old', 'RE: Invoice', `-----Original Message-----\n${OUTLOOK}`],
  ['Outlook, no prefix', 'Invoice', OUTLOOK, 'answers'],
  ['Outlook, German', 'AW: Rechnung', GERMAN],
  [
    'Outlook, Swedish',
    'SV: Faktura',
    'Från: Billing\nSkickat: den 25 november 2026\nTill: Ana\nÄmne: Faktura',
  ],
  ['Outlook, Polish', 'ODP: Faktura', 'Od: Billing\nWysłano: środa\nDo: Ana\nTemat: Faktura'],
  [
    'Outlook, Turkish',
    'YNT: Fatura',
    'Kimden: Billing\nGönderildi: 25 Kasım\nKime: Ana\nKonu: Fatura',
  ],
  ['Outlook, Hebrew', 'השב: חשבונית', 'מאת: Billing\nנשלח: יום רביעי\nאל: Ana\nנושא: חשבונית'],
  [
    'Outlook, Chinese',
    '回复: 发票',
    '发件人: Billing\n发送时间: 2026年11月25日\n收件人: Ana\n主题: 发票',
  ],
  ['Outlook, behind a mark of the server', '[EXTERNAL] [shop] Re: Invoice', OUTLOOK],
  ['behind a mark with a colon', 'EXTERNAL: RE: Invoice', OUTLOOK, 'answers'],
  ['Italian', 'R: Fattura', 'Da: Billing\nInviato: mercoledì\nA: Ana\nOggetto: Fattura'],
  ['Brazilian', 'RES: Fatura', 'De: Billing\nEnviada em: quarta-feira\nPara: Ana\nAssunto: Fatura'],
  ['counted', 'Re[2]: Invoice', `-----Original Message-----\n${OUTLOOK}`],
  [
    'GMX',
    'Aw: Rechnung',
    'Gesendet: Mittwoch, 25. November 2026 um 10:12 Uhr\nVon: Billing <billing@vendor.example>\nAn: ana@x.example\nBetreff: Rechnung',
  ],
  [
    'Proton Mail',
    'Re: Invoice',
    '------- Original Message -------\nOn Wednesday, November 25th, 2026 at 10:12, Billing <billing@vendor.example> wrote:',
  ],
  ['Zimbra', 'Re: Invoice', `----- Original Message -----\n${OUTLOOK}`],
  ['Thunderbird', 'Re: Invoice', 'On 25/11/2026 10:12, Billing wrote:\n> Amount due'],
  [
    'Apple Mail',
    'Re: Invoice',
    '> On 25 Nov 2026, at 10:12, Billing <billing@vendor.example> wrote:\n> \n> Amount due',
  ],
  [
    'to a mail that was sent on, quoted',
    'Re: Fwd: Invoice',
    'On Wed, Ana wrote:\n> ---------- Forwarded message ---------\n> From: Billing',
  ],
];

describe('a mail that answers', () => {
  it.each(REPLIES)(
    'has no quoted mail in its new text: %s: %s',
    async (_program, subject = '', marks = '', answers = '') => {
      const text = `Paid today.\n\n${marks}\n\nAmount due: EUR 412.50`;
      const quoted = marks.includes('\n>') || marks.startsWith('>');
      const whole = quoted ? text.replace(/\n\n(Amount.*)$/, '\n> $1') : text;
      expect(await strippedOf(subject, whole, answers === 'answers')).toBe('Paid today.');
    },
  );
});
