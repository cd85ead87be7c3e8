import * as fc from 'fast-check';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ReadMail } from '../../gateway/mail/inbound/read-mail.ts';
import { ThreadMailReader } from '../../gateway/mail/inbound/reader/thread-reader.ts';
import { hostileMails } from '../gateway/mail/inbound/reader/hostile-mails.ts';
import { DnsServer } from '../helpers/dns-server.ts';
import { corpus } from './corpus.ts';
import { HOSTILE_TEXTS, mutated } from './hostile.ts';
import { each, fuzz, unmet, HUNG_MS } from './runs.ts';

const NOW = Date.UTC(2026, 4, 1, 12);
const TOKENS = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  '\r\n\r\n',
  '--b\r\n',
  '--b--',
  '"',
  '<',
  '(',
  ';',
  '=?utf-8?b?',
  '?=',
  '\xff',
  '\x1b$B',
  'Content-Type: message/rfc822\r\n',
  'Content-Type: multipart/mixed; boundary=b\r\n\r\n',
  'Content-Transfer-Encoding: base64\r\n',
  'charset=utf-7',
  'boundary=""',
  "filename*0*=x''%",
];

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

/** The faults in how a mail is read. */
async function faultsOf(raw: Buffer): Promise<string[]> {
  const seen = { now: NOW, whole: true, sizeBytes: raw.length };
  const mail = await reader.read(raw, seen);
  const { text, text_stripped: stripped, incomplete } = mail.payload;
  const names = [...mail.files, ...mail.blocked].map(({ name }) => name);
  const itself = mail.files.find(({ name }) => name === 'message.eml');
  return unmet({
    'its texts are Unicode without NUL': textsOf(mail.payload).every(
      (one) => one.isWellFormed() && !one.includes('\0'),
    ),
    'its addresses and subject are of one line': !/[\r\n]/.test(JSON.stringify(linesOf(mail))),
    'it proves nothing': !mail.verified,
    'its digest is of its bytes': mail.digest === sha256(raw),
    'its payload is the one that is kept': isKept(mail),
    'where it has a text, something is new': (stripped ?? '') !== '' || (text ?? '') === '',
    [`its files have names of their own: ${names.join()}`]: new Set(names).size === names.length,
    [`its files have safe names: ${names.join()}`]: names.every(isSafe),
    'its files are what they say': mail.files.every((file) => file.sha256 === sha256(file.bytes)),
    'it is whole, or kept whole': incomplete === null || isSame(itself?.bytes, raw),
  });
}

function linesOf({ payload }: ReadMail): unknown[] {
  const { subject, from, to, cc, reply_to, message_id, in_reply_to, references } = payload;
  // As JSON a line end is `\n`, of which only what is not escaped would be found.
  return [subject, from, to, cc, reply_to, message_id, in_reply_to, references].map((one) =>
    textsOf(one).join(' '),
  );
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

function isKept({ payload, payload_json: kept }: ReadMail): boolean {
  const isRight = kept.sha256 === sha256(kept.bytes);
  return isRight && Buffer.from(kept.bytes).toString('utf8') === JSON.stringify(payload);
}

function isSame(bytes: Uint8Array | undefined, raw: Buffer): boolean {
  return Buffer.from(bytes ?? []).equals(raw);
}

function isSafe(name: string): boolean {
  // oxlint-disable-next-line no-control-regex -- none of these may be there
  const safe = /^(?!\.{1,2}$)[^/\\\u0000-\u001f\u202a-\u202e]+$/;
  return safe.test(name) && Buffer.byteLength(name) <= 200;
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

const SEEDS = [
  ...corpus('mail').map(({ bytes }) => bytes),
  // The small ones of those that were made to do harm.
  ...hostileMails()
    .map(({ raw }) => raw)
    .filter(({ length }) => length < 4000),
];

describe('a mail that comes in', () => {
  it('of the corpus is read', async () => {
    expect(await each(corpus('mail'), ({ bytes }) => faultsOf(bytes))).toEqual([]);
  });

  it(
    'that was changed on its way is read',
    async () => {
      const mails = fc.constantFrom(...SEEDS).chain((raw) => mutated(raw, TOKENS));
      expect(await fuzz(mails, 150, faultsOf)).toBeNull();
    },
    HUNG_MS,
  );

  it(
    'with anything in its fields is read',
    async () => {
      const names = ['From', 'To', 'Cc', 'Subject', 'Date', 'Message-ID', 'References', 'Reply-To'];
      const more = [
        'Content-Type',
        'Content-Disposition',
        'DKIM-Signature',
        'Received',
        '__proto__',
      ];
      const text = fc.oneof(
        fc.constantFrom(...HOSTILE_TEXTS.filter(({ length }) => length < 5000)),
        fc.string({ unit: 'binary-ascii', maxLength: 80 }),
      );
      const field = fc.tuple(fc.constantFrom(...names, ...more), text);
      const mails = fc
        .tuple(fc.array(field, { maxLength: 8 }), text)
        .map(([fields, body]) =>
          Buffer.from(`${fields.map((one) => one.join(': ')).join('\r\n')}\r\n\r\n${body}`),
        );
      expect(await fuzz(mails, 150, faultsOf)).toBeNull();
    },
    HUNG_MS,
  );
});
