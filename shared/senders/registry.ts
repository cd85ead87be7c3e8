import { adyen } from './adyen.ts';
import { asana } from './asana.ts';
import { bitbucket } from './bitbucket.ts';
import { cloudevents } from './cloudevents.ts';
import { docusign } from './docusign.ts';
import { dropbox } from './dropbox.ts';
import { github } from './github.ts';
import { gitlab } from './gitlab.ts';
import { hmacSha256 } from './hmac-sha256.ts';
import { hubspot } from './hubspot.ts';
import { intercom } from './intercom.ts';
import { linear } from './linear.ts';
import { mailgun } from './mailgun.ts';
import { meta } from './meta.ts';
import { microsoftGraph } from './microsoft-graph.ts';
import { none } from './none.ts';
import { okta } from './okta.ts';
import { pagerduty } from './pagerduty.ts';
import { paypal } from './paypal.ts';
import { postmark } from './postmark.ts';
import type { Sender } from './sender.ts';
import { sendgrid } from './sendgrid.ts';
import { sentry } from './sentry.ts';
import { shopify } from './shopify.ts';
import { slack } from './slack.ts';
import { square } from './square.ts';
import { standardWebhooks } from './standard-webhooks.ts';
import { stripe } from './stripe.ts';
import { trello } from './trello.ts';
import { twilio } from './twilio.ts';
import { typeform } from './typeform.ts';
import { zendesk } from './zendesk.ts';
import { zoom } from './zoom.ts';

/** Every way to verify a source: the general ones, then the senders by their titles. */
export const SENDERS = [
  stripe,
  github,
  hmacSha256,
  standardWebhooks,
  none,
  adyen,
  asana,
  bitbucket,
  cloudevents,
  docusign,
  dropbox,
  gitlab,
  hubspot,
  intercom,
  linear,
  mailgun,
  meta,
  microsoftGraph,
  okta,
  pagerduty,
  paypal,
  postmark,
  sendgrid,
  sentry,
  shopify,
  slack,
  square,
  trello,
  twilio,
  typeform,
  zendesk,
  zoom,
] as const;

/** How a source's deliveries are verified: the name of a sender, or of a way that several senders have in common. */
export type Verification = (typeof SENDERS)[number]['name'];

const BY_NAME: ReadonlyMap<string, Sender> = new Map(SENDERS.map((one) => [one.name, one]));

/** The names, in the order of the list. */
export const VERIFICATIONS = SENDERS.map(({ name }) => name) as [Verification, ...Verification[]];

/** The ones whose signature is all in headers, and needs no more than the body and the secret. */
export const HEADER_SIGNERS: readonly Verification[] = SENDERS.filter(({ proof }: Sender) => {
  if (proof.kind !== 'mac' || typeof proof.content !== 'string') return false;
  const isInHeaders = [proof.signature, proof.time?.at ?? []]
    .flat()
    .every((place) => !place.startsWith('body:'));
  return isInHeaders && !/\{(?:url|method|body:)/.test(proof.content);
}).map(({ name }) => name);

/** The sender of this name; undefined for a name of another release. */
export function senderNamed(verification: string): Sender | undefined {
  return BY_NAME.get(verification);
}

export function senderOf(verification: Verification): Sender {
  const sender = BY_NAME.get(verification);
  if (!sender) throw new Error(`No sender is named ${verification}.`);
  return sender;
}

/** The senders that a search finds: by name, title or another word, as far as it was typed. */
export function sendersFor(search: string): readonly Sender<Verification>[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return SENDERS.filter(({ name, title, words: others = '' }: Sender<Verification>) => {
    const known = `${name} ${title} ${others}`.toLowerCase().split(/[\s_-]+/);
    return words.every((word) => known.some((one) => one.startsWith(word)));
  });
}
