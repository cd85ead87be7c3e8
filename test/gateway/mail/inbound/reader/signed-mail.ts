import { createHash, createSign, generateKeyPairSync } from 'node:crypto';

export const NOW = Date.UTC(2026, 4, 1, 12);

/** A key to sign with, and the TXT record that publishes it. */
export interface SigningKey {
  readonly privateKey: string;
  readonly record: string;
}

export function rsaKey(bits = 2048): SigningKey {
  const pair = generateKeyPairSync('rsa', { modulusLength: bits });
  const published = pair.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { privateKey, record: `v=DKIM1; k=rsa; p=${published}` };
}

interface Signing {
  readonly domain: string;
  readonly key: SigningKey;
  /** The fields that are signed, as `h=` has them. */
  readonly fields?: string;
  /** More tags, or others; a null takes one away. */
  readonly tags?: Readonly<Record<string, string | null>>;
  /** How many bytes of the body are signed; `l=` is a tag of its own. */
  readonly bodyBytes?: number;
}

/**
 * The mail behind a signature made by the message of RFC 6376 (relaxed/relaxed, rsa-sha256). It is made here, as signers
 * do not make what a verifier has to refuse.
 */
export function signed(mail: string, signing: Signing): string {
  const [header = '', ...rest] = mail.split('\r\n\r\n');
  const body = relaxedBody(rest.join('\r\n\r\n')).slice(0, signing.bodyBytes);
  const fields = signing.fields ?? 'from:to:subject:date:message-id';
  const tags: Record<string, string | null> = {
    v: '1',
    a: 'rsa-sha256',
    c: 'relaxed/relaxed',
    d: signing.domain,
    s: 's1',
    t: String(NOW / 1000 - 60),
    h: fields,
    bh: createHash('sha256').update(body, 'latin1').digest('base64'),
    ...signing.tags,
  };
  const list = Object.entries(tags)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${value ?? ''}; `);
  const unsigned = `DKIM-Signature: ${list.join('')}b=`;
  const text = [...signedFields(header, tags.h ?? ''), relaxedField(unsigned)].join('\r\n');
  const value = createSign('sha256').update(text, 'latin1').sign(signing.key.privateKey, 'base64');
  return `${unsigned}${value}\r\n${mail}`;
}

/** From the bottom up, each line once (section 5.4.2). */
function signedFields(header: string, names: string): string[] {
  const left = header.split(/\r\n(?![ \t])/).toReversed();
  return names.split(':').flatMap((name) => {
    const at = left.findIndex((line) => line.toLowerCase().startsWith(`${name.trim()}:`));
    return at === -1 ? [] : left.splice(at, 1).map(relaxedField);
  });
}

function relaxedField(line: string): string {
  const colon = line.indexOf(':');
  const value = line
    .slice(colon + 1)
    .replaceAll('\r\n', '')
    .replace(/[ \t]+/g, ' ')
    .trim();
  return `${line.slice(0, colon).trim().toLowerCase()}:${value}`;
}

function relaxedBody(body: string): string {
  const lines = body
    .split('\r\n')
    .map((line) => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''))
    .join('\r\n');
  const text = lines.replace(/(?:\r\n)+$/, '');
  return text === '' ? '' : `${text}\r\n`;
}

/** A mail with these fields instead of, or besides, the usual ones; a null takes one away. */
export function mailOf(
  fields: Readonly<Record<string, string | null>> = {},
  body = 'The invoice is attached.\r\n',
): string {
  const all: Record<string, string | null> = {
    From: 'Ana Lopez <ana@shop.example>',
    To: 'demo@inbox.example',
    Subject: 'Invoice 42',
    Date: 'Fri, 1 May 2026 11:59:00 +0000',
    'Message-ID': '<m1@shop.example>',
    ...fields,
  };
  const lines = Object.entries(all).filter(([, value]) => value !== null);
  return `${lines.map(([name, value]) => `${name}: ${value ?? ''}\r\n`).join('')}\r\n${body}`;
}
