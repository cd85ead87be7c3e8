import { createHmac } from 'node:crypto';
import { textsIn } from '../../shared/senders/places.ts';
import type { Handshake, Sender, SignedRequest } from '../../shared/senders/sender.ts';
import type { DeliveryAnswer } from '../commit/commands/inbox/delivery.ts';

/** What a sender hears, always with status 200. */
export interface SenderReply {
  readonly delivery: 'accepted' | 'duplicate' | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** For requests that ask whether the address exists: yes, and nothing else. */
export const NOTHING: SenderReply = { delivery: null, headers: {}, body: null };

/** What we may echo: one line that fits in a header. */
const PRINTABLE = /^[\x20-\x7e]{1,1024}$/;
/**
 * What we may sign: nothing that looks like the start of a delivery, whose parts are separated by colons and braces.
 */
const WORD = /^[\w.~+/=-]{1,1024}$/;

/** The question in this request, if it's the one that the sender asks before it sends. */
export function challengeIn(
  handshake: Handshake | undefined,
  request: Pick<SignedRequest, 'method' | 'headers' | 'url' | 'payload'>,
): string | null {
  if (!handshake || handshake.method !== request.method) return null;
  const { when, challenge } = handshake;
  if (when && textsIn(when[0], request)[0] !== when[1]) return null;
  const [text] = textsIn(challenge, request);
  const allowed = typeof handshake.answer === 'function' ? WORD : PRINTABLE;
  return text !== undefined && allowed.test(text) ? text : null;
}

/** Whether the question stands in a body that is signed like a delivery. */
export function isSignedHandshake(handshake: Handshake | undefined): boolean {
  return handshake?.challenge.startsWith('body:') ?? false;
}

/** What the sender wants to hear. */
export function challengeReply(
  handshake: Handshake,
  challenge: string,
  secrets: readonly string[],
): SenderReply {
  const { headers, body } = wordsFor(handshake, challenge, secrets);
  return { delivery: null, headers: { ...handshake.headers, ...headers }, body };
}

function wordsFor(
  { answer }: Handshake,
  challenge: string,
  secrets: readonly string[],
): Pick<SenderReply, 'headers' | 'body'> {
  if (answer === 'text') {
    return { headers: { 'Content-Type': 'text/plain' }, body: challenge };
  }
  if (typeof answer === 'string') {
    return { headers: { [answer.slice('header:'.length)]: challenge }, body: null };
  }
  const sign = (text: string): string =>
    createHmac('sha256', secrets[0] ?? '')
      .update(text)
      .digest('hex');
  const headers = { 'Content-Type': 'application/json' };
  return { headers, body: JSON.stringify(answer(challenge, sign)) };
}

/** The answer to a delivery. In a sender's own form it says in headers what happened. */
export function deliveryReply(
  answer: Pick<DeliveryAnswer, 'status'> & { readonly event_id: string | null },
  sender?: Sender,
): SenderReply {
  const { status, event_id } = answer;
  const own = sender?.answer;
  if (!own) {
    const headers = { 'Content-Type': 'application/json' };
    return { delivery: status, headers, body: JSON.stringify({ status, event_id }) };
  }
  const headers = {
    'Content-Type': own.type,
    'Svc-Delivery': status,
    'Svc-Event-Id': event_id ?? '',
  };
  return { delivery: status, headers, body: own.body };
}
