import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { none } from '../../senders/none.ts';
import { senderNamed } from '../../senders/registry.ts';
import { parsedUrl } from '../../lib/urls.ts';

/** A source, as far as its sender must know it. */
export interface SetupSource {
  readonly type: string;
  readonly verification: string;
  readonly url: string;
  readonly address: string;
  readonly signatureHeader: string;
}

/** A new source's secret: made by svc and to be shown, given by the user, or of no interest. */
export interface NewSecret {
  readonly made: string | null;
  readonly isGiven: boolean;
}

interface SetupStep {
  readonly text: string;
  /** The step needs the source to get another secret; `at_once` if the old one is of no use. */
  readonly rotate?: 'at_once' | 'with_grace';
}

export interface Setup {
  readonly title: string;
  readonly steps: readonly SetupStep[];
}

/** A secret in the form that the sender uses; null if none has to be known before its first delivery. */
export function newSourceSecret(verification: unknown): string | null {
  const sender = senderNamed(String(verification));
  if (!sender || sender.secretBy === null || sender.secretBy === 'handshake') return null;
  const { proof } = sender;
  if (proof.kind === 'public_key' && proof.key === 'secret') return unusedKey();
  const key = proof.kind === 'mac' ? proof.key : undefined;
  if (key === 'hex') return randomBytes(32).toString('hex');
  const isShownAsWhsec = key === 'base64' || sender.name === 'stripe';
  return isShownAsWhsec
    ? `whsec_${randomBytes(24).toString('base64')}`
    : randomBytes(20).toString('hex');
}

/** A public key whose private one nobody has, until the sender's is stored. */
function unusedKey(): string {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
}

/** Whether the sender makes the secret itself, so that svc can't choose it. */
export function isSecretOfSender(verification: string): boolean {
  const by = senderNamed(verification)?.secretBy;
  return by === 'sender' || by === 'handshake';
}

/** How to connect the sender of this source, with its real address, and its secret if it was just made. */
export function setupOf(source: SetupSource, secret: NewSecret): Setup {
  if (source.type === 'email') return emailSetup(source);
  const { title, steps, id } = senderNamed(source.verification) ?? none;
  return {
    title: `Set up ${id === 'any' ? 'the sender' : title}`,
    steps: steps.map((step) => stepOf(step, source, secret)),
  };
}

function stepOf(step: string, source: SetupSource, { made, isGiven }: NewSecret): SetupStep {
  const text = step.replace('{url}', source.url).replace('{header}', source.signatureHeader);
  if (text.includes('{store}')) {
    const store = isGiven ? "If it isn't the one you gave svc, store it:" : 'Store it:';
    return { text: text.replace('{store}', store), rotate: 'at_once' };
  }
  if (!text.includes('{secret}')) return { text };
  if (made !== null) return { text: text.replace('{secret}', `${made} (shown only now)`) };
  if (!text.endsWith('{secret}')) return { text: text.replace('{secret}', 'you gave svc') };
  const known = 'the one you gave svc. To change it here:';
  return { text: text.replace('{secret}', known), rotate: 'with_grace' };
}

function emailSetup({ address }: SetupSource): Setup {
  return {
    title: 'Set up mail',
    steps: [
      { text: `Mail to this address becomes an event: ${address}` },
      { text: 'Mail from other machines needs a gateway with a mail domain.' },
    ],
  };
}

/** What to do about deliveries that were taken for repeats, if they weren't; null if there were none. */
export function repeatedText(count: number): string | null {
  if (count === 0) return null;
  const many = count === 1 ? '1 delivery' : `${count} deliveries`;
  return `${many} of the last 24 hours made no event: without an id, the same bytes are the same delivery. If they were different events, have the sender put an id of each into the body or into the header Idempotency-Key.`;
}

interface Reach {
  readonly text: string;
  readonly command: string;
}

/** How a sender on the Internet reaches an address that only this machine knows. */
export function reachOf({ type, url }: Pick<SetupSource, 'type' | 'url'>): readonly Reach[] {
  const address = type === 'email' ? null : parsedUrl(url);
  if (!address) return [];
  const { hostname, origin } = address;
  if (!/^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})$/.test(hostname)) return [];
  return [
    {
      text: "This URL works only on this machine. To reach it from the Internet, run any tunnel, and give the sender the tunnel's host with the same path. For example:",
      command: `cloudflared tunnel --url ${origin}`,
    },
    {
      text: 'A gateway with a public address needs no tunnel:',
      command: 'svc login --gateway URL',
    },
  ];
}
