import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { describe, expect, it } from 'vitest';
import { composeMail } from '../../../gateway/mail/compose.ts';
import { dkimSignature } from '../../../gateway/mail/dkim.ts';
import type { OutgoingMail } from '../../../gateway/mail/mailer.ts';
import { NOW } from './samples.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ed25519 = generateKeyPairSync('ed25519');
const KEYS = { rsa, ed25519 };

const SIGNER = { domain: 'agents.example', selector: 'svc1' };

const mail = {
  id: 'msg_1',
  from: 'shop@agents.example',
  to: 'ann@example.com',
  subject: 'Your order',
  text: 'It is on its way.',
} satisfies OutgoingMail;

const rich = {
  ...mail,
  fromName: 'Léas Laden',
  replyTo: 'shop+t0ken@agents.example',
  subject: `Grüße  aus ${'sehr '.repeat(40)}weit`,
  text: `Grüße \t  mit  Leerzeichen \n\n\n.\n${'日本'.repeat(2000)}\n\n\n`,
  html: '<p>Grüße</p>\n\n',
  attachments: [
    {
      name: 'größe.bin',
      contentType: 'application/octet-stream',
      bytes: Buffer.alloc(700_000, 'a b'),
    },
  ],
} satisfies OutgoingMail;

function record(key: KeyObject): string {
  const der = key.export({ type: 'spki', format: 'der' });
  const isRsa = key.asymmetricKeyType === 'rsa';
  // An Ed25519 key stands there without what says which it is (RFC 8463 section 4).
  const bytes = isRsa ? der : der.subarray(-32);
  return `v=DKIM1; k=${isRsa ? 'rsa' : 'ed25519'}; p=${bytes.toString('base64')}`;
}

async function signed(given: OutgoingMail, key: KeyObject): Promise<string> {
  const { raw } = await composeMail(given, NOW);
  const signature = await dkimSignature(raw, { ...SIGNER, key }, NOW);
  return signature.toString('latin1') + raw.toString('latin1');
}

/** What a verifier makes of it that is nobody of ours. It finds the key at one name alone. */
async function verdictOn(raw: string, key: KeyObject): Promise<string | undefined> {
  const { results } = await dkimVerify(Buffer.from(raw, 'latin1'), {
    resolver: async (name: string) =>
      name === 'svc1._domainkey.agents.example' ? [[record(key)]] : [],
  });
  expect(results.map(({ signingDomain }) => signingDomain)).toEqual(['agents.example']);
  return results[0]?.status.result;
}

describe.each(['rsa', 'ed25519'] as const)('a signature by a key of the kind %s', (kind) => {
  const { privateKey, publicKey } = KEYS[kind];

  it.each([
    ['plain', mail],
    ['rich', rich],
    ['empty', { ...mail, text: '' }],
    ['of empty lines', { ...mail, text: '\n\n\n' }],
    ['of blanks', { ...mail, text: ' \t \n  \t' }],
  ])('is a good one for a mail that is %s', async (_what, given) => {
    expect(await verdictOn(await signed(given, privateKey), publicKey)).toBe('pass');
  });

  it('stands alone: not under another key', async () => {
    const raw = await signed(mail, privateKey);
    const other = generateKeyPairSync(kind as 'rsa', { modulusLength: 2048 });
    expect(await verdictOn(raw, other.publicKey)).not.toBe('pass');
  });

  it.each([
    ['another From', 'From: boss@agents.example\r\n'],
    ['another To', 'To: x@evil.example\r\n'],
    ['a Cc', 'Cc: x@evil.example\r\n'],
    ['another subject', 'Subject: Pay now\r\n'],
    ['an address for answers', 'Reply-To: x@evil.example\r\n'],
  ])('is none for a mail with %s', async (_what, line) => {
    const raw = await signed(mail, privateKey);
    for (const changed of [line + raw, raw.replace('\r\n\r\n', `\r\n${line}\r\n`)]) {
      expect(await verdictOn(changed, publicKey)).not.toBe('pass');
    }
  });

  it.each([
    'Your order',
    'ann@example.com',
    'It is on',
    'msg_1@',
    'text/plain',
    '2026',
    'auto-generated',
  ])('is none where %s was changed', async (text) => {
    const raw = await signed(mail, privateKey);
    expect(raw).toContain(text);
    const changed = raw.replace(text, text.toUpperCase() === text ? '2027' : `x${text}`);
    expect(await verdictOn(changed, publicKey)).not.toBe('pass');
  });

  it('stays good when a server on the way adds its own lines', async () => {
    const raw = await signed(mail, privateKey);
    const trace = 'Received: from a by b;\r\n Fri, 02 Jan 2026 12:00:00 +0000\r\n';
    const folded = raw.replace('Subject: Your order', 'Subject:  Your\r\n  order');
    expect(await verdictOn(`${trace}${folded}\r\n\r\n`, publicKey)).toBe('pass');
  });
});

describe('a signature', () => {
  it('has this form', async () => {
    const signature = (await signed(rich, rsa.privateKey)).split('\r\nFrom:')[0] ?? '';
    const lines = signature.split('\r\n');
    expect(lines.slice(0, 3)).toEqual([
      'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;',
      ' d=agents.example; s=svc1;',
      ` t=${NOW / 1000};`,
    ]);
    expect(/ h=([^;]*);/.exec(signature)?.[1]?.replace(/\s/g, '').split(':')).toEqual([
      'From',
      'From',
      'To',
      'To',
      'Cc',
      'Subject',
      'Subject',
      'Reply-To',
      'Reply-To',
      'Date',
      'Message-ID',
      'MIME-Version',
      'Content-Type',
      'Auto-Submitted',
    ]);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(79);
  });

  it('lets other work be done while a large mail is hashed', async () => {
    const bytes = Buffer.alloc(10_485_760);
    const attachments = [{ name: 'x', contentType: 'application/octet-stream', bytes }];
    const { raw } = await composeMail({ ...mail, attachments }, NOW);
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    count();
    await dkimSignature(raw, { ...SIGNER, key: ed25519.privateKey }, NOW);
    isDone = true;
    expect(turns).toBeGreaterThan(40);
  });
});
