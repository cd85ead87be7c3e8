import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ReadMail } from '../../../../../gateway/mail/inbound/read-mail.ts';
import { ThreadMailReader } from '../../../../../gateway/mail/inbound/reader/thread-reader.ts';
import { DnsServer } from '../../../../helpers/dns-server.ts';
import {
  hostileMails,
  longHeader,
  manyLines,
  manyParts,
  mutations,
  nestedMultiparts,
  type HostileMail,
} from './hostile-mails.ts';
import { mailOf, NOW } from './signed-mail.ts';

let dns: DnsServer;
let reader: ThreadMailReader;
beforeAll(async () => {
  dns = await DnsServer.start();
  reader = new ThreadMailReader({ dnsServers: [dns.address] });
});
afterAll(async () => {
  await reader.close();
  await dns.stop();
});

function read({ raw }: HostileMail): Promise<ReadMail> {
  return reader.read(raw, { now: NOW, whole: true, sizeBytes: raw.length });
}

/** What holds for every mail, whatever is in it. */
function expectSound(mail: ReadMail, { name, raw }: HostileMail): void {
  const { text, text_stripped: stripped, incomplete } = mail.payload;
  const files = [...mail.files, ...mail.blocked].map((file) => file.name);
  const itself = mail.files.find((file) => file.name === 'message.eml');
  const holds = {
    'its texts are Unicode without NUL': textsOf(mail.payload).every(
      (one) => one.isWellFormed() && !one.includes('\0'),
    ),
    'it proves nothing': !mail.verified,
    'its digest is of its bytes': mail.digest === createHash('sha256').update(raw).digest('hex'),
    'where it has a text, something is new': (stripped ?? '') !== '' || (text ?? '') === '',
    'its files have names of their own': new Set(files).size === files.length,
    'its files have safe names': files.every(isSafe),
    'it is whole, or kept whole':
      incomplete === null || Buffer.from(itself?.bytes ?? []).equals(raw),
  };
  const failing = Object.entries(holds).filter(([, isSo]) => !isSo);
  expect({ name, failing }).toEqual({ name, failing: [] });
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

function isSafe(name: string): boolean {
  // oxlint-disable-next-line no-control-regex -- none of these may be there
  const safe = /^(?!\.{1,2}$)[^/\\\u0000-\u001f\u202a-\u202e]+$/;
  return safe.test(name) && Buffer.byteLength(name) <= 200;
}

describe('hostile mails', () => {
  it('are read, each of them, by another thread than this one', async () => {
    await read({ name: 'the first', raw: Buffer.from('Subject: x\r\n\r\n') });
    let turns = 0;
    const turning = setInterval(() => (turns += 1), 1);
    const mails = hostileMails();
    for (const hostile of mails) expectSound(await read(hostile), hostile);
    clearInterval(turning);
    // Were a mail parsed here, this thread would turn a few times about it; as it isn't, it turns all the time.
    expect(turns).toBeGreaterThan(10 * mails.length);
  });

  it.each([
    ['too_many_parts', manyParts(201)],
    [null, manyParts(200)],
    ['too_deep', nestedMultiparts(10)],
    [null, nestedMultiparts(9)],
    ['too_large', longHeader(64 * 1024)],
    [null, longHeader(60_000)],
    ['too_large', manyLines(2000)],
    [null, manyLines(1990)],
  ] as const)('are %s only beyond what is allowed: %#', async (incomplete, hostile) => {
    const mail = await read(hostile);
    expectSound(mail, hostile);
    expect(mail.payload).toMatchObject({ incomplete, subject: 'hostile' });
    expect(mail.payload.from).toEqual({ address: 'a@b.example', name: '' });
  });
});

describe('a report', () => {
  it('is read whole, however often it says the same field', async () => {
    const type = 'multipart/report; report-type=delivery-status; boundary=b';
    const status = `--b\r\nContent-Type: message/delivery-status\r\n\r\n${'a:\r\n'.repeat(80_000)}`;
    const raw = Buffer.from(mailOf({ From: null, 'Content-Type': type }, `${status}--b--\r\n`));
    const mail = await read({ name: 'report', raw });
    expect(mail.payload.incomplete).toBe(null);
  });
});

describe('a large attachment', () => {
  it('is read whole, in a time that grows with it and no faster', async () => {
    const fields = { From: null, 'Content-Transfer-Encoding': 'base64', 'Content-Type': 'a/b' };
    const raw = Buffer.from(mailOf(fields, `${'A'.repeat(76)}\r\n`.repeat(120_000)));
    const mail = await read({ name: 'large', raw });
    expect(mail.payload.incomplete).toBe(null);
    expect(mail.files.map(({ bytes }) => bytes.length)).toEqual([57 * 120_000]);
  });
});

describe('mutations', () => {
  const base = Buffer.from(
    mailOf(
      { 'MIME-Version': '1.0', 'Content-Type': 'multipart/mixed; boundary="b"' },
      [
        '--b',
        'Content-Type: text/plain; charset=utf-8',
        'Content-Transfer-Encoding: quoted-printable',
        '',
        'caf=C3=A9',
        '--b',
        'Content-Type: text/html; charset="iso-8859-1"',
        '',
        '<p>Hello <a href="https://x.example/">there</a></p>',
        '--b',
        'Content-Type: application/pdf; name="=?utf-8?b?csOpc3Vtw6k=?=.pdf"',
        'Content-Transfer-Encoding: base64',
        'Content-ID: <one@x>',
        '',
        'JVBERi0xLjQK',
        '--b',
        'Content-Type: message/rfc822',
        '',
        'Subject: inner',
        '',
        'text',
        '--b--',
        '',
      ].join('\r\n'),
    ),
  );

  it('of a mail are read', async () => {
    const whole = await read({ name: 'base', raw: base });
    expect(whole.files.map(({ name }) => name)).toEqual(['résumé.pdf', 'attachment-2.eml']);
    for (const mutation of mutations(base, 400, 20_261)) {
      expectSound(await read(mutation), mutation);
    }
  });
});
