import { createHmac } from 'node:crypto';
import { sign } from '@octokit/webhooks-methods';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Stripe } from 'stripe';

export interface Signer {
  readonly verification: 'stripe' | 'github' | 'hmac_sha256' | 'standard_webhooks';
  /** Four of them, the oldest first. */
  readonly secrets: readonly [string, string, string, string];
  /** The headers that the sender adds at this time. */
  readonly headers: (
    secret: string,
    payload: string,
    atMs: number,
  ) => Record<string, string> | Promise<Record<string, string>>;
}

const WORDS = ['oldest', 'old', 'new', 'newest'] as const;
const named = (make: (word: string) => string): Signer['secrets'] => [
  make(WORDS[0]),
  make(WORDS[1]),
  make(WORDS[2]),
  make(WORDS[3]),
];

/** Each way to sign, as the sender's own library does it. */
export const SIGNERS: readonly Signer[] = [
  {
    verification: 'stripe',
    secrets: named((word) => `whsec_${word}_of_stripe`),
    headers: (secret, payload, atMs) => ({
      'stripe-signature': Stripe.webhooks.generateTestHeaderString({
        payload,
        secret,
        timestamp: Math.floor(atMs / 1000),
      }),
    }),
  },
  {
    verification: 'github',
    secrets: named((word) => `the ${word} secret of github`),
    headers: async (secret, payload) => ({ 'x-hub-signature-256': await sign(secret, payload) }),
  },
  {
    verification: 'hmac_sha256',
    secrets: named((word) => `the ${word} secret of ours`),
    headers: (secret, payload) => ({
      'x-signature': createHmac('sha256', secret).update(payload).digest('base64'),
    }),
  },
  {
    verification: 'standard_webhooks',
    secrets: named((word) => `whsec_${Buffer.from(word.padEnd(24, '.')).toString('base64')}`),
    headers: (secret, payload, atMs) => {
      const id = `msg_${createHmac('sha256', 'id').update(payload).digest('hex')}`;
      return {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(atMs / 1000)),
        'webhook-signature': new StandardWebhook(secret).sign(id, new Date(atMs), payload),
      };
    },
  },
];
