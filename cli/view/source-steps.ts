import { isLoopback } from '../../clients/typescript/call/transport.ts';
import { triggerLine } from '../samples/trigger-line.ts';
import type { Look } from './table.ts';
import { plainText, safeLine, wrapText } from './terminal-text.ts';

type Fields = Readonly<Record<string, unknown>>;

const WIDEST_TEXT = 96;

interface Setup {
  readonly title: string;
  readonly steps: readonly string[];
}

/** The secret of a new source: made by svc and to be shown, given by the user, or of no interest. */
export interface NewSecret {
  readonly made: string | null;
  readonly isGiven: boolean;
}

const NO_SECRET: NewSecret = { made: null, isGiven: false };

/** How to connect the sender of this source, with its real address, and its secret if it was just made. */
export function setupLines(source: Fields, look: Look, secret = NO_SECRET): string[] {
  const { title, steps } = setupOf(source, secret);
  const width = Math.min(look.columns, WIDEST_TEXT) - 5;
  // A command gets a line of its own, so that it can be copied.
  const paragraph = (text: string, indent: string): string[] => {
    const [prose = '', ...commands] = text.split('\n').map((line) => safeLine(look.typed(line)));
    const lines = wrapText(prose, width).map((line) => indent + line);
    return [...lines, ...commands.map((command) => `${indent || '  '}${command}`)];
  };
  return [
    look.bold(`${title}:`),
    ...steps.flatMap((step, at) => {
      const [first = '', ...others] = paragraph(step, '     ');
      return [`  ${at + 1}. ${first.trimStart()}`, ...others];
    }),
    ...reachOf(source).flatMap((text) => ['', ...paragraph(text, '')]),
    '',
    'Try it now, without the sender:',
    `  ${safeLine(look.typed(triggerLine(source)))}`,
  ];
}

function setupOf(source: Fields, { made, isGiven }: NewSecret): Setup {
  const { type, verification } = source;
  if (type === 'email') return emailSetup(source);
  switch (verification) {
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

function githubSetup({ name, url }: Fields, secret: string | null): Setup {
  return {
    title: 'Set up GitHub',
    steps: [
      'Open Settings → Webhooks → Add webhook, in the repository or the organization.',
      `Payload URL: ${plainText(url)}`,
      'Content type: application/json',
      secret === null
        ? `Secret: the one you gave svc. To change it here:\nsvc source rotate ${plainText(name)} --secret -`
        : `Secret, shown only now: ${secret}`,
      'Choose the events and add the webhook. GitHub sends a ping, which arrives as an event.',
    ],
  };
}

function stripeSetup({ name, url }: Fields, isGiven: boolean): Setup {
  return {
    title: 'Set up Stripe',
    steps: [
      'In the Dashboard, open Developers → Webhooks and add an endpoint.',
      `Endpoint URL: ${plainText(url)}`,
      'Choose the events and create the endpoint.',
      `Stripe shows its signing secret, whsec_…. ${storeSecret(name, isGiven)}`,
    ],
  };
}

function standardSetup({ name, url }: Fields, isGiven: boolean): Setup {
  return {
    title: 'Set up the sender (Svix or any other that signs Standard Webhooks)',
    steps: [
      `In its webhook settings, add an endpoint with this URL: ${plainText(url)}`,
      `The sender shows a signing secret, whsec_…. ${storeSecret(name, isGiven)}`,
    ],
  };
}

/** The sender makes its secret only when it knows the URL, so it's stored afterwards. */
function storeSecret(name: unknown, isGiven: boolean): string {
  const when = isGiven ? "If it isn't the one you gave svc, store it:" : 'Store it:';
  return `${when}\nsvc source rotate ${plainText(name)} --secret - --previous-valid-seconds 0`;
}

function hmacSetup({ url, signature_header: header }: Fields, secret: string | null): Setup {
  const known =
    secret === null ? 'the secret you gave svc' : `the secret ${secret} (shown only now)`;
  return {
    title: 'Set up the sender',
    steps: [
      `It sends a POST request to this URL: ${plainText(url)}`,
      `It signs the raw body with HMAC-SHA256 and ${known}, and puts the signature, in hex or base64, in the header ${plainText(header)}.`,
    ],
  };
}

function openSetup({ url }: Fields): Setup {
  return {
    title: 'Set up the sender',
    steps: [
      `It sends a POST request to this URL: ${plainText(url)}`,
      'Keep the URL secret: anyone who knows it can send events, and svc marks them as not verified. If the sender signs its requests, add a source with --verification instead.',
    ],
  };
}

function emailSetup({ address }: Fields): Setup {
  return {
    title: 'Set up mail',
    steps: [
      `Mail to this address becomes an event: ${plainText(address)}`,
      'Mail from other machines needs a gateway with a mail domain.',
    ],
  };
}

/** How a sender on the Internet reaches an address that only this machine knows. */
function reachOf({ type, url }: Fields): string[] {
  if (type === 'email' || typeof url !== 'string' || !URL.canParse(url)) return [];
  const { hostname, origin } = new URL(url);
  if (!isLoopback(hostname)) return [];
  return [
    `This URL works only on this machine. To reach it from the Internet, run any tunnel, and give the sender the tunnel's host with the same path. For example:\ncloudflared tunnel --url ${origin}`,
    "A team's gateway needs no tunnel:\nsvc login --gateway URL",
  ];
}
