/** Mails that do harm to programs that read them, made here so that none has to be stored. */

const HEAD = 'From: a@b.example\r\nTo: demo@inbox.example\r\nSubject: hostile\r\n';
const MEGABYTE = 1_000_000;

export interface HostileMail {
  readonly name: string;
  readonly raw: Buffer;
}

function mail(name: string, fields: string, body: string): HostileMail {
  return { name, raw: Buffer.from(`${HEAD}${fields}\r\n${body}`, 'latin1') };
}

function multipart(boundary: string): string {
  return `MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="${boundary}"\r\n`;
}

export function manyParts(count: number): HostileMail {
  const part = '--b\r\nContent-Type: text/plain\r\n\r\nx\r\n';
  return mail(`${count} parts`, multipart('b'), `${part.repeat(count)}--b--\r\n`);
}

export function nestedMultiparts(depth: number): HostileMail {
  let body = '';
  for (let level = 1; level <= depth; level += 1)
    body += `--b${level - 1}\r\n${multipart(`b${level}`)}\r\n`;
  return mail(
    `${depth} multiparts in one another`,
    multipart('b0'),
    `${body}--b${depth}\r\n\r\nx\r\n`,
  );
}

function nestedMails(depth: number): HostileMail {
  return mail(
    `${depth} mails in one another`,
    'Content-Type: message/rfc822\r\n',
    'Content-Type: message/rfc822\r\n\r\n'.repeat(depth),
  );
}

export function longHeader(bytes: number): HostileMail {
  return mail(`a header of ${bytes} bytes`, `X-Long: ${'x'.repeat(bytes)}\r\n`, 'text');
}

export function manyLines(count: number): HostileMail {
  return mail(`${count} lines in the header`, 'X: y\r\n'.repeat(count), 'text');
}

const TEXT = 'Content-Type: text/plain; charset=';
const HTML = 'Content-Type: text/html; charset=utf-8\r\n';
const BASE64 = 'Content-Transfer-Encoding: base64\r\n';

function badTexts(): HostileMail[] {
  return [
    mail('an unknown charset', `${TEXT}"no-such-charset"\r\n`, 'caf\xe9'),
    mail('a charset that is a path', `${TEXT}"../../etc/passwd"\r\n`, 'caf\xe9'),
    mail('bytes that are not UTF-8', `${TEXT}utf-8\r\n`, 'a\xff\xfe\xed\xa0\x80b'),
    mail('half a character of UTF-16', `${TEXT}utf-16le\r\n`, 'a\0\x3d\xd8b\0c'),
    mail('UTF-7', `${TEXT}utf-7\r\n`, '+ADw-script+AD4-alert(1)+ADw-/script+AD4-'),
    mail('UTF-7 in HTML', 'Content-Type: text/html; charset=utf-7\r\n', '+ADw-script+AD4-'),
    mail('NUL bytes', `${TEXT}utf-8\r\nX-Nul: a\0b\r\n`, 'a\0b\0\0c'),
    mail('escape sequences of ISO-2022-JP', `${TEXT}iso-2022-jp\r\n`, '\x1b$B\x1b(J\x1b$B$'),
    { name: 'bare line feeds', raw: Buffer.from('From: a@b.example\n\ntext\nmore\n') },
    { name: 'bare carriage returns', raw: Buffer.from('From: a@b.example\r\rtext\rmore\r') },
    { name: 'nothing', raw: Buffer.alloc(0) },
    { name: 'one byte', raw: Buffer.from('x') },
    { name: 'one line end', raw: Buffer.from('\n') },
    { name: 'one megabyte of NUL', raw: Buffer.alloc(MEGABYTE) },
    { name: 'a header only', raw: Buffer.from('Subject: x') },
    { name: 'names of properties', raw: Buffer.from('__proto__: x\r\nconstructor: y\r\n\r\nz') },
  ];
}

function badParts(): HostileMail[] {
  return [
    manyParts(10_000),
    nestedMultiparts(500),
    nestedMails(500),
    longHeader(5 * MEGABYTE),
    manyLines(100_000),
    mail('a part that never ends', multipart('b'), '--b\r\nContent-Type: text/plain\r\n\r\nhalf'),
    mail('an empty boundary', multipart(''), '--\r\n\r\nx\r\n----\r\n'),
    mail('a boundary of 60,000 bytes', multipart('b'.repeat(60_000)), `--${'b'.repeat(60_000)}`),
    mail(
      'one boundary for two levels',
      multipart('b'),
      `--b\r\n${multipart('b')}\r\n--b\r\n\r\nx\r\n--b--`,
    ),
    mail(
      'a boundary that begins another',
      multipart('b'),
      `--b\r\n${multipart('bb')}\r\n--bb\r\n\r\nx\r\n--b--`,
    ),
    mail(
      'two content types',
      `${multipart('a')}${multipart('b')}`,
      '--a\r\n\r\nx\r\n--b\r\n\r\ny\r\n',
    ),
    mail(
      'a boundary in pieces',
      'Content-Type: multipart/mixed; boundary*0="a"; boundary*1="b"\r\n',
      '--ab\r\n\r\nx',
    ),
    mail(
      'boundaries without quotes',
      `Content-Type: multipart/mixed; ${'boundary="'.repeat(6000)}\r\n`,
      'x',
    ),
    mail('a base64 of anything', `${TEXT}utf-8\r\n${BASE64}`, '=*&%='.repeat(10_000)),
    mail('units of base64 in a line', BASE64, 'AA='.repeat(MEGABYTE)),
    mail(
      'a soft line break without end',
      'Content-Transfer-Encoding: quoted-printable\r\n',
      '=\r\n'.repeat(300_000),
    ),
    mail(
      'one line of quoted printable',
      'Content-Transfer-Encoding: quoted-printable\r\n',
      '=41'.repeat(300_000),
    ),
    mail('two million lines', '', '\n'.repeat(2 * MEGABYTE)),
    mail(
      'a file name of a megabyte',
      `Content-Disposition: attachment; filename="${'../'.repeat(20_000)}"\r\n`,
      'x',
    ),
  ];
}

function badMarkup(): HostileMail[] {
  const html = (name: string, body: string) => mail(name, HTML, body);
  return [
    html('a megabyte of nested div', '<div>'.repeat(MEGABYTE / 5)),
    html('a megabyte of <', '<'.repeat(MEGABYTE)),
    html('a megabyte of <a', '<a '.repeat(MEGABYTE / 3)),
    html('a megabyte of <!--', '<!--'.repeat(MEGABYTE / 4)),
    html('a megabyte of open scripts', '<script>'.repeat(MEGABYTE / 8)),
    html('a megabyte of half closed scripts', `<script>${'</script'.repeat(MEGABYTE / 8)}`),
    html('a megabyte of quotes', '<blockquote>'.repeat(MEGABYTE / 12)),
    html('a megabyte of open links', '<a href="https://x.example/">'.repeat(MEGABYTE / 29)),
    html('a megabyte of open attributes', `<a ${'href="'.repeat(MEGABYTE / 6)}`),
    html('a megabyte of entities', '&#x3c;'.repeat(MEGABYTE / 6)),
    html('a megabyte of &', '&'.repeat(MEGABYTE)),
    mail('a megabyte of >', '', '>'.repeat(MEGABYTE)),
    mail('a megabyte of quoted lines', '', '> \r\n'.repeat(MEGABYTE / 4)),
    mail('a megabyte of introductions', '', 'On 1 May 2026 a@b.example wrote:\r\n'.repeat(30_000)),
    mail('a megabyte of half introductions', '', 'On 1 May 2026 at 10:00\r\n'.repeat(40_000)),
    mail('a megabyte of From:', '', 'From: x\r\n'.repeat(MEGABYTE / 9)),
    mail('a megabyte of dashes', '', `${'-'.repeat(400)}\r\n`.repeat(2500)),
    mail('a megabyte of blanks', '', ' '.repeat(MEGABYTE)),
  ];
}

function field(name: string, value: string): HostileMail {
  return mail(name, `${value}\r\n`, 'text');
}

function badFields(): HostileMail[] {
  return [
    field('10,000 addressees', `Cc: ${'a@b,'.repeat(10_000)}`),
    field('addresses in groups', `Cc: ${'a:'.repeat(20_000)}`),
    field('open brackets', `Cc: ${'<'.repeat(50_000)}`),
    field('open comments', `Cc: ${'('.repeat(50_000)}`),
    field('at signs', `Cc: <${'@'.repeat(50_000)}`),
    field('open encoded words', `X-Subject: ${'=?utf-8?q?'.repeat(6000)}`),
    field('ids without end', `References: ${'<'.repeat(50_000)}`),
    field('20,000 ids', `References: ${'<a>'.repeat(20_000)}`),
    field('1,900 folds', `X-Fold: a${'\r\n b'.repeat(1900)}`),
    field('a date of 50,000 digits', `Date: ${'1'.repeat(50_000)}`),
    field('a date in comments', `Date: ${'('.repeat(50_000)}`),
    field(
      '500 signatures',
      'DKIM-Signature: v=1; a=rsa-sha256; l=1; d=x; s=y; h=from; bh=z; b=w\r\n'.repeat(500).trim(),
    ),
    field('a signature of one tag', `DKIM-Signature: ${';'.repeat(60_000)}`),
    field(
      'a signature over 20,000 fields',
      `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=x.example; s=y; h=${'from:'.repeat(3000)}x; bh=z; b=w`,
    ),
  ];
}

/** Each kind of harm that is known. */
export function hostileMails(): HostileMail[] {
  return [...badTexts(), ...badParts(), ...badMarkup(), ...badFields()];
}

/** Copies of a mail with bytes changed, taken away, doubled or moved; the same for the same seed. */
export function mutations(raw: Buffer, count: number, seed: number): HostileMail[] {
  const random = generator(seed);
  return Array.from({ length: count }, (_, index) => {
    let bytes: Buffer = Buffer.from(raw);
    for (let change = random(8); change >= 0; change -= 1) bytes = changed(bytes, random);
    return { name: `mutation ${index} of seed ${seed}`, raw: bytes };
  });
}

const TOKENS = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  '--',
  '"',
  '<',
  '=?utf-8?b?',
  '\xff',
  ':',
  ';',
  ' ',
  '=',
  '--b',
];

function changed(bytes: Buffer, random: (below: number) => number): Buffer {
  const at = random(bytes.length + 1);
  const to = Math.min(bytes.length, at + random(60));
  const token = Buffer.from(TOKENS[random(TOKENS.length)] ?? '', 'latin1');
  const middle = [token, Buffer.alloc(0), bytes.subarray(random(bytes.length + 1), to)];
  const end = random(2) === 0 ? at : to;
  return Buffer.concat([bytes.subarray(0, at), middle[random(3)] ?? token, bytes.subarray(end)]);
}

/** Numbers that look random (mulberry32). */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % Math.max(1, below);
  };
}
