import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ThreadMailReader } from '../../../../../gateway/mail/inbound/reader/thread-reader.ts';
import { NOW } from './signed-mail.ts';

let reader: ThreadMailReader;
beforeAll(() => {
  reader = new ThreadMailReader({ dnsServers: ['127.0.0.1:1'] });
});
afterAll(() => reader.close());

/** Characters of a mail are bytes. */
async function read(...lines: readonly string[]) {
  const raw = Buffer.from(['To: demo@inbox.example', ...lines].join('\r\n'), 'latin1');
  return reader.read(raw, { now: NOW, whole: true, sizeBytes: raw.length });
}

const bytes = (text: string, encoding: BufferEncoding = 'utf8') =>
  Buffer.from(text, encoding).toString('latin1');

const CAFE = 'Café für 5 €';
const UTF8 = bytes(CAFE);
const WINDOWS = 'Caf\xe9 f\xfcr 5 \x80';
const KOI8 = '\xf0\xd2\xc9\xd7\xc5\xd4';
const CP1251 = '\xcf\xf0\xe8\xe2\xe5\xf2';
const HELLO = 'Привет';
const JIS = '\x1b$B$3$s$K$A$O\x1b(B';
const KONNICHIWA = 'こんにちは';

type TextForm = readonly [charset: string, body: string, text: string];

const TEXTS: readonly TextForm[] = [
  ['charset=unknown-8bit', UTF8, CAFE],
  ['charset=unknown-8bit', WINDOWS, CAFE],
  ['charset=""', UTF8, CAFE],
  ['charset=""', WINDOWS, CAFE],
  ['charset=', WINDOWS, CAFE],
  ['format=flowed', UTF8, CAFE],
  ['format=flowed', WINDOWS, CAFE],
  ['charset=x-unknown', UTF8, CAFE],
  ['charset=x-unknown', WINDOWS, CAFE],
  ['charset=default', UTF8, CAFE],
  ['charset=none', WINDOWS, CAFE],
  ['charset=binary', UTF8, CAFE],
  ['charset=us-ascii', UTF8, CAFE],
  ['charset=us-ascii', WINDOWS, CAFE],
  ['charset=utf8', UTF8, CAFE],
  ['charset=UTF_8', UTF8, CAFE],
  ['charset="utf 8"', UTF8, CAFE],
  ['charset=utf8mb4', UTF8, CAFE],
  ['charset="\'utf-8\'"', UTF8, CAFE],
  ['charset=utf-8;', UTF8, CAFE],
  ['charset="charset=utf-8"', UTF8, CAFE],
  ['charset=UTF-8', WINDOWS, CAFE],
  ['charset=utf-8', `${UTF8}\r\n${WINDOWS}`, `${CAFE}\n${CAFE}`],
  ['charset=iso-8859-1', WINDOWS, CAFE],
  ['charset=iso-8859-1', UTF8, CAFE],
  ['charset=latin-1', WINDOWS, CAFE],
  ['charset=ISO_8859-1:1987', WINDOWS, CAFE],
  ['charset=windows-1252', WINDOWS, CAFE],
  ['charset=win1252', WINDOWS, CAFE],
  ['charset=iso-8859-15', 'Caf\xe9 f\xfcr 5 \xa4', CAFE],
  ['charset=iso8859_15', 'Caf\xe9 f\xfcr 5 \xa4', CAFE],
  ['charset=iso-8859-2', '\xb3\xf3d\xbc', 'łódź'],
  ['charset=ISO-8859-2-Windows-Latin-2', '\xb3\xf3d\xbc', 'łódź'],
  ['charset=windows-1250', '\xb3\xf3d\x9f', 'łódź'],
  ['charset=cp-1250', '\xb3\xf3d\x9f', 'łódź'],
  ['charset=koi8-r', KOI8, HELLO],
  ['charset=KOI8R', KOI8, HELLO],
  ['charset=koi8_r', KOI8, HELLO],
  ['charset=windows-1251', CP1251, HELLO],
  ['charset=win-1251', CP1251, HELLO],
  ['charset=windows_1251', CP1251, HELLO],
  ['charset=CP1251', CP1251, HELLO],
  ['charset=iso-8859-7', '\xe3\xe5\xe9\xdc', 'γειά'],
  ['charset=iso-8859-8-i', '\xf9\xec\xe5\xed', 'שלום'],
  ['charset=iso-8859-9', '\xdd\xfe', 'İş'],
  ['charset=gb2312', '\xc4\xe3\xba\xc3', '你好'],
  ['charset=gb_2312', '\xc4\xe3\xba\xc3', '你好'],
  ['charset=gb18030', '\xc4\xe3\xba\xc3', '你好'],
  ['charset=GB-18030', '\xc4\xe3\xba\xc3', '你好'],
  ['charset=cp936', '\xc4\xe3\xba\xc3', '你好'],
  ['charset=big5', '\xa7A\xa6n', '你好'],
  ['charset=big-5', '\xa7A\xa6n', '你好'],
  ['charset=iso-2022-jp', JIS, KONNICHIWA],
  ['charset=ISO2022JP', JIS, KONNICHIWA],
  ['charset=us-ascii', JIS, KONNICHIWA],
  ['charset=shift_jis', '\x82\xb1\x82\xf1\x82\xc9\x82\xbf\x82\xcd', KONNICHIWA],
  ['charset=cp932', '\x82\xb1\x82\xf1\x82\xc9\x82\xbf\x82\xcd', KONNICHIWA],
  ['charset=euc-jp', '\xa4\xb3\xa4\xf3\xa4\xcb\xa4\xc1\xa4\xcf', KONNICHIWA],
  ['charset=euc-kr', '\xbe\xc8\xb3\xe7', '안녕'],
  ['charset=ks_c_5601-1987', '\xbe\xc8\xb3\xe7', '안녕'],
  ['charset=MacRoman', 'Caf\x8e', 'Café'],
];

describe('a text', () => {
  it.each(TEXTS)(
    'is read in its charset, or in the likeliest: %s: %j',
    async (...[charset, body, text]) => {
      const type = [`Content-Type: text/plain; ${charset}`, 'Content-Transfer-Encoding: 8bit'];
      const { payload, files } = await read('Subject: Hello', ...type, '', body);
      expect(payload.text).toBe(`${text}\n`);
      expect(files).toEqual([]);
    },
  );

  it('that is large, and has a wrong byte, is read', async () => {
    const { payload } = await read(TYPE('utf-8'), '', `\xe9${bytes('é').repeat(900_000)}`);
    expect(payload.text).toBe(`${'é'.repeat(900_001)}\n`);
  });

  it('of HTML is read in the charset that the HTML names, if the mail names none', async () => {
    const html = `<html><head><meta http-equiv="Content-Type" content="text/html; charset=windows-1251"></head>${CP1251}`;
    expect((await read('Content-Type: text/html', '', html)).payload.text).toBe(HELLO);
  });

  it('that cannot be decoded has its mail beside it', async () => {
    const type = 'Content-Type: text/plain; charset=gb18030';
    const { payload, files } = await read('Subject: Hello', type, '', '\xc4\xe3\xff\xff');
    expect(payload.text).toContain('\ufffd');
    const [whole] = files;
    expect(whole?.name).toBe('message.eml');
    expect(Buffer.from(whole?.bytes ?? []).toString('latin1')).toContain('\xc4\xe3\xff\xff');
  });

  it.each([
    ['a line that is too long', 'Q2Fmw6kgZsO8ciA1IOKCrA==', CAFE],
    ['lines of any length', 'Q2Fm\r\nw6kgZsO8\r\n\r\nciA1IOK\r\nCrA==', CAFE],
    ['blanks and marks in it', 'Q2Fm w6kg*ZsO8\tciA1IOKCrA', CAFE],
    ['padding in each line', 'Q2Fmw6kg\r\nZsO8\r\nciA=\r\nNSDigqw=', CAFE],
    ['no padding', 'Q2Fmw6kgZsO8ciA1IOKCrA', CAFE],
    ['a footer below it', 'Q2Fmw6kgZsO8ciA1IOKCrA==\r\n', CAFE],
  ])('in base64 is read with %s', async (_what, body, text) => {
    const type = ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: base64'];
    expect((await read(...type, '', body)).payload.text).toBe(text);
  });

  it.each([
    ['Caf=C3=A9 f=C3=BCr 5 =E2=82=\r\n=AC', 'utf-8'],
    ['Caf=c3=a9 f=c3=bcr 5 =e2=82=ac', 'unknown-8bit'],
    ['Caf=E9 f=FCr 5 =80', ''],
  ])('in quoted-printable is read: %s: %s', async (body, charset) => {
    const type = [
      `Content-Type: text/plain; charset=${charset}`,
      'Content-Transfer-Encoding: quoted-printable',
    ];
    expect((await read(...type, '', body)).payload.text).toBe(`${CAFE}\n`);
  });
});

const TYPE = (charset: string) => `Content-Type: text/plain; charset=${charset}`;

type SubjectForm = readonly [what: string, value: string, subject: string, charset?: string];

const SUBJECTS: readonly SubjectForm[] = [
  ['raw UTF-8', UTF8, CAFE],
  ['raw Latin-1', 'Caf\xe9 f\xfcr 5', 'Café für 5'],
  ['raw Latin-1 that Windows has more of', WINDOWS, CAFE],
  ['raw, in the charset of the text', KOI8, HELLO, 'koi8-r'],
  ['raw, in the charset of the text, spelled oddly', CP1251, HELLO, 'win-1251'],
  ['raw, in a charset of more bytes', '\xc4\xe3\xba\xc3', '你好', 'gb2312'],
  ['raw Latin-1 above a text in UTF-8', WINDOWS, CAFE, 'utf-8'],
  ['raw Latin-1, folded', `${WINDOWS}\r\n ${WINDOWS}`, `${CAFE} ${CAFE}`],
  ['an unknown charset', '=?unknown-8bit?q?Caf=C3=A9?=', 'Café'],
  ['an unknown charset that is Latin-1', '=?x-unknown?Q?Caf=E9?=', 'Café'],
  ['UTF-8 spelled oddly', '=?utf8?B?Q2Fmw6k=?=', 'Café'],
  ['UTF-8 spelled otherwise', '=?UTF_8?Q?Caf=C3=A9?=', 'Café'],
  ['Latin-1 that is UTF-8', '=?iso-8859-1?Q?Caf=C3=A9?=', 'Café'],
  ['windows-1251 spelled oddly', '=?win1251?Q?=CF=F0=E8=E2=E5=F2?=', HELLO],
  ['KOI8-R spelled oddly', '=?koi8r?B?8NLJ18XU?=', HELLO],
  ['ISO-2022-JP', '=?iso-2022-jp?B?GyRCJDMkcyRLJEEkTxsoQg==?=', KONNICHIWA],
  ['a language', '=?utf-8*fr?Q?Caf=C3=A9?=', 'Café'],
  ['a character split between two words', '=?utf-8?Q?Caf=C3?=\r\n =?utf-8?Q?=A9?=', 'Café'],
  ['split between words in base64', '=?utf-8?B?Q2Fmww==?=\r\n =?utf-8?B?qQ==?=', 'Café'],
  ['split inside a group of base64', '=?utf-8?B?Q2Fmw6?= =?utf-8?B?k=?=', 'Café'],
  ['split between two encodings', '=?utf-8?Q?Caf=C3?= =?utf-8?B?qQ==?=', 'Café'],
  ['split between two spellings', '=?UTF-8?Q?Caf=C3?= =?utf8?Q?=A9?=', 'Café'],
  ['words with nothing between them', '=?utf-8?Q?Caf?==?utf-8?Q?=C3=A9?=', 'Café'],
  ['words in two charsets', '=?utf-8?Q?Caf=C3=A9?= =?iso-8859-1?Q?_f=FCr?=', 'Café für'],
  ['words and text between them', '=?utf-8?Q?Caf=C3=A9?= and =?utf-8?Q?tea?=', 'Café and tea'],
  ['blanks in a word', '=?utf-8?Q?Caf=C3=A9 f=C3=BCr?=', 'Café für'],
  ['no end', '=?utf-8?Q?Caf=C3=A9', '=?utf-8?Q?Caf=C3=A9'],
];

describe('a subject', () => {
  it.each(SUBJECTS)('is read: %s', async (...[, value, subject, charset = 'us-ascii']) => {
    const { payload } = await read(`Subject: ${value}`, TYPE(charset), '', 'Hello.');
    expect(payload.subject).toBe(subject);
  });
});

const NAMES: readonly (readonly [what: string, disposition: string, name: string])[] = [
  ['RFC 2231', "filename*=utf-8''caf%C3%A9.txt", 'café.txt'],
  ['RFC 2231, spelled oddly', "filename*=utf8''caf%C3%A9.txt", 'café.txt'],
  ['RFC 2231, Latin-1', "filename*=iso-8859-1'fr'caf%E9.txt", 'café.txt'],
  ['RFC 2231, windows-1251', "filename*=win1251''%CF%F0.txt", 'Пр.txt'],
  ['RFC 2231, in pieces', "filename*0*=utf-8''caf%C3;\r\n filename*1*=%A9.txt", 'café.txt'],
  ['RFC 2231, no charset', "filename*=''caf%C3%A9.txt", 'café.txt'],
  ['an encoded word', 'filename="=?utf-8?Q?caf=C3=A9=2Etxt?="', 'café.txt'],
  ['two encoded words', 'filename="=?utf-8?Q?caf=C3?= =?utf-8?Q?=A9=2Etxt?="', 'café.txt'],
  ['raw UTF-8', `filename="${bytes('café')}.txt"`, 'café.txt'],
  ['raw Latin-1', 'filename="caf\xe9.txt"', 'café.txt'],
];

describe('the name of a file', () => {
  it.each(NAMES)('is read: %s', async (_what, disposition, name) => {
    const type = 'Content-Type: multipart/mixed; boundary=b';
    const part = ['--b', `Content-Disposition: attachment; ${disposition}`, '', 'x', '--b--'];
    const { files } = await read(type, '', ...part);
    expect(files.map((file) => file.name)).toEqual([name]);
  });

  it('and that of a person is read', async () => {
    const { payload } = await read(
      'Cc: Ren\xe9 <rene@x.example>, =?utf8?Q?Zo=C3?= =?utf-8?Q?=AB?= <zoe@x.example>',
      '',
      'x',
    );
    expect(payload.cc.map(({ name }) => name)).toEqual(['René', 'Zoë']);
  });
});
