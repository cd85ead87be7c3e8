import { createPublicKey, generateKeyPairSync } from 'node:crypto';

/** The selector under which people.test signs. */
export const PEOPLE_SELECTOR = 'sel';

/** A TXT record of the lab. */
export interface TxtRecord {
  readonly name: string;
  readonly value: string;
}

/** The key that signs for people.test: its private half as PEM, and the record that tells the public one. */
export function makePeopleKey(): { privatePem: string; record: TxtRecord } {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  return { privatePem: privateKey, record: dkimRecord(PEOPLE_SELECTOR, 'people.test', publicKey) };
}

/** The record of a DKIM key (RFC 6376 section 3.6.1, RFC 8463 section 4). */
export function dkimRecord(selector: string, domain: string, publicPem: string): TxtRecord {
  const key = createPublicKey(publicPem);
  const kind = key.asymmetricKeyType === 'ed25519' ? 'ed25519' : 'rsa';
  const spki = key.export({ type: 'spki', format: 'der' });
  // Of an Ed25519 key the record has the 32 bytes alone.
  const bytes = kind === 'ed25519' ? spki.subarray(-32) : spki;
  const value = `v=DKIM1; k=${kind}; p=${bytes.toString('base64')}`;
  return { name: `${selector}._domainkey.${domain}`, value };
}

/** The records that don't change: SPF (RFC 7208) and DMARC (RFC 7489) of both domains. */
export const POLICIES: readonly TxtRecord[] = [
  { name: 'people.test', value: 'v=spf1 ip4:127.0.0.1 -all' },
  { name: '_dmarc.people.test', value: 'v=DMARC1; p=reject; adkim=s; aspf=s' },
  { name: 'inbox.test', value: 'v=spf1 ip4:127.0.0.1 -all' },
  { name: '_dmarc.inbox.test', value: 'v=DMARC1; p=reject' },
];

/** Settings of dnsmasq: it knows these names and asks nobody. */
export function dnsmasqSettings(port: number, records: readonly TxtRecord[]): string {
  return [
    'no-resolv',
    'no-hosts',
    'no-poll',
    `port=${port}`,
    'listen-address=127.0.0.1',
    'bind-interfaces',
    'local=/test/',
    'mx-host=people.test,mx.people.test,10',
    'mx-host=inbox.test,mx.inbox.test,10',
    'host-record=mx.people.test,mx.inbox.test,127.0.0.1',
    ...records.map(({ name, value }) => `txt-record=${name},${inStrings(value)}`),
    '',
  ].join('\n');
}

/** A string of a TXT record has 255 bytes at most. */
function inStrings(value: string): string {
  return (value.match(/.{1,250}/g) ?? []).map((part) => `"${part}"`).join(',');
}
