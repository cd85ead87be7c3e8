import { describe, expect, it } from 'vitest';
import { deliveryProblem, problemText } from '../../../shared/rules/payload/signature.ts';
import type { Verification } from '../../../shared/senders/registry.ts';

const NOW_MS = 1_700_000_000_000;
const SECONDS = NOW_MS / 1000;

const problem = (
  verification: Verification,
  headers: Record<string, string>,
  signatureHeader: string | null = null,
) => {
  const found = deliveryProblem({
    verification,
    headers,
    signatureHeader,
    secrets: [`whsec_${Buffer.alloc(24).toString('base64')}`],
    body: Buffer.from('{}'),
    nowMs: NOW_MS,
  });
  return found && problemText(found);
};

describe('why a signature was refused', () => {
  it.each([
    ['github', {}, 'it has no header x-hub-signature-256'],
    ['stripe', {}, 'it has no header stripe-signature'],
    [
      'standard_webhooks',
      { 'webhook-id': 'a', 'svix-timestamp': '1' },
      'it has no header webhook-timestamp, webhook-signature',
    ],
  ] as const)('names the missing header of %s', (verification, headers, text) => {
    expect(problem(verification, headers)).toBe(text);
  });

  it('names the configured header', () => {
    expect(problem('hmac_sha256', {}, 'x-build')).toBe('it has no header x-build');
  });

  it.each([
    [SECONDS - 301, 'it was signed 301 s ago, and 300 s is the most that is accepted'],
    [SECONDS + 400, 'it was signed 400 s in the future: one of the two clocks is wrong'],
    ['x', 'it was signed at no time that can be read'],
  ])('tells the age of a signature made at %s', (at, text) => {
    expect(problem('stripe', { 'stripe-signature': `t=${at},v1=ab` })).toBe(text);
    const standard = {
      'webhook-id': 'a',
      'webhook-signature': 'v1,x',
      'webhook-timestamp': `${at}`,
    };
    expect(problem('standard_webhooks', standard)).toBe(text);
  });

  it('otherwise suspects the secret or the body, and quotes nothing of the delivery', () => {
    const text = 'its signature was made with another secret, or for another body';
    expect(problem('github', { 'x-hub-signature-256': 'sha256=zz' })).toBe(text);
    expect(problem('stripe', { 'stripe-signature': `v1=ab,t=${SECONDS - 300}` })).toBe(text);
  });
});
