import { randomBytes } from 'node:crypto';

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

/** A secret in the form that the sender uses; null if the source checks no signature. */
export function newSourceSecret(verification: unknown): string | null {
  switch (verification) {
    case 'github':
    case 'hmac_sha256':
      return randomBytes(20).toString('hex');
    case 'stripe':
    case 'standard_webhooks':
      return `whsec_${randomBytes(24).toString('base64')}`;
    default:
      return null;
  }
}

/** Whether the sender makes the secret itself, once it knows the URL. */
export function isSecretOfSender(verification: string): boolean {
  return verification === 'stripe' || verification === 'standard_webhooks';
}

/** How to connect the sender of this source, with its real address, and its secret if it was just made. */
export function setupOf(source: SetupSource, { made, isGiven }: NewSecret): Setup {
  if (source.type === 'email') return emailSetup(source);
  switch (source.verification) {
    case 'github':
      return githubSetup(source, made);
    case 'stripe':
      return stripeSetup(source, isGiven);
    case 'standard_webhooks':
      return standardSetup(source, isGiven);
    case 'hmac_sha256':
      return hmacSetup(source, made);
    default:
      return openSetup(source);
  }
}

function githubSetup({ url }: SetupSource, secret: string | null): Setup {
  return {
    title: 'Set up GitHub',
    steps: [
      { text: 'Open Settings → Webhooks → Add webhook, in the repository or the organization.' },
      { text: `Payload URL: ${url}` },
      { text: 'Content type: application/json' },
      secret === null
        ? { text: 'Secret: the one you gave svc. To change it here:', rotate: 'with_grace' }
        : { text: `Secret, shown only now: ${secret}` },
      {
        text: 'Choose the events and add the webhook. GitHub sends a ping, which arrives as an event.',
      },
    ],
  };
}

function stripeSetup({ url }: SetupSource, isGiven: boolean): Setup {
  return {
    title: 'Set up Stripe',
    steps: [
      { text: 'In the Dashboard, open Developers → Webhooks and add an endpoint.' },
      { text: `Endpoint URL: ${url}` },
      { text: 'Choose the events and create the endpoint.' },
      storeSecret('Stripe shows its signing secret, whsec_…. ', isGiven),
    ],
  };
}

function standardSetup({ url }: SetupSource, isGiven: boolean): Setup {
  return {
    title: 'Set up the sender (Svix or any other that signs Standard Webhooks)',
    steps: [
      { text: `In its webhook settings, add an endpoint with this URL: ${url}` },
      storeSecret('The sender shows a signing secret, whsec_…. ', isGiven),
    ],
  };
}

/** The sender makes its secret only when it knows the URL, so it's stored afterwards. */
function storeSecret(before: string, isGiven: boolean): SetupStep {
  const when = isGiven ? "If it isn't the one you gave svc, store it:" : 'Store it:';
  return { text: before + when, rotate: 'at_once' };
}

function hmacSetup({ url, signatureHeader }: SetupSource, secret: string | null): Setup {
  const known =
    secret === null ? 'the secret you gave svc' : `the secret ${secret} (shown only now)`;
  return {
    title: 'Set up the sender',
    steps: [
      { text: `It sends a POST request to this URL: ${url}` },
      {
        text: `It signs the raw body with HMAC-SHA256 and ${known}, and puts the signature, in hex or base64, in the header ${signatureHeader}.`,
      },
    ],
  };
}

function openSetup({ url }: SetupSource): Setup {
  return {
    title: 'Set up the sender',
    steps: [
      { text: `It sends a POST request to this URL: ${url}` },
      {
        text: 'Keep the URL secret: anyone who knows it can send events, and svc marks them as not verified. If the sender signs its requests, add a source that checks signatures instead.',
      },
    ],
  };
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

interface Reach {
  readonly text: string;
  readonly command: string;
}

/** How a sender on the Internet reaches an address that only this machine knows. */
export function reachOf({ type, url }: Pick<SetupSource, 'type' | 'url'>): readonly Reach[] {
  if (type === 'email' || !URL.canParse(url)) return [];
  const { hostname, origin } = new URL(url);
  if (!/^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})$/.test(hostname)) return [];
  return [
    {
      text: "This URL works only on this machine. To reach it from the Internet, run any tunnel, and give the sender the tunnel's host with the same path. For example:",
      command: `cloudflared tunnel --url ${origin}`,
    },
    { text: "A team's gateway needs no tunnel:", command: 'svc login --gateway URL' },
  ];
}
