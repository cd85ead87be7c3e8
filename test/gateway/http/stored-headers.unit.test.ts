import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { headerRecord, storedHeaders } from '../../../gateway/http/stored-headers.ts';

describe('storedHeaders', () => {
  it('lower-cases names and joins repeats', () => {
    expect({
      ...storedHeaders(['X-A', '1', 'Accept', 'b', 'x-a', '2', 'X-GitHub-Event', 'push'], []),
    }).toEqual({
      'x-a': '1, 2',
      accept: 'b',
      'x-github-event': 'push',
    });
  });

  it.each([
    'Authorization',
    'Proxy-Authorization',
    'Cookie',
    'Set-Cookie',
    'X-Api-Key',
    'X-Gitlab-Token',
    'X-Auth-Token',
    'X-Access-Token',
    'X-Amz-Security-Token',
    'X-Telegram-Bot-Api-Secret-Token',
    'X-Goog-Api-Key',
    'X-Hook-Secret',
    'X-Slack-Signature',
    'Ocp-Apim-Subscription-Key',
    'Cf-Webhook-Auth',
    'X-Service-Auth',
    'X-Trello-Webhook',
    'X-Shopify-Hmac-Sha256',
    'X-Docusign-Signature-1',
    'X-Docusign-Signature-7',
    'X-Hubspot-Signature-V3',
    'Paypal-Transmission-Sig',
    'Stripe-Signature',
    'Typeform-Signature',
    'Signature',
    'Signature-Input',
    'X-Hub-Signature-256',
    'Svix-Signature',
    'Telnyx-Signature-Ed25519',
  ])('drops %s', (name) => {
    expect(Object.keys(storedHeaders([name, 'secret', name.toUpperCase(), 'x'], []))).toEqual([]);
  });

  it('drops the configured header in any case', () => {
    expect(Object.keys(storedHeaders(['X-Seal', '1', 'x-kept', '2'], ['x-SEAL']))).toEqual([
      'x-kept',
    ]);
  });

  it.each([
    'content-type',
    'user-agent',
    'x-github-event',
    'x-github-delivery',
    'webhook-id',
    'webhook-timestamp',
    'idempotency-key',
    'x-request-id',
  ])('keeps %s', (name) => {
    expect(storedHeaders([name, 'v'], [])[name]).toBe('v');
  });

  it('treats the names of object members as names', () => {
    const record = storedHeaders(
      ['__proto__', 'a', 'constructor', 'b', '__PROTO__', 'c', 'toString', 'd'],
      [],
    );
    expect(JSON.stringify(record)).toBe('{"__proto__":"a, c","constructor":"b","tostring":"d"}');
    expect(Object.getPrototypeOf(record)).toBeNull();
    expect(Object.keys(storedHeaders(['constructor', 'x'], ['constructor']))).toEqual([]);
  });

  it('stops at 32 K characters in all', () => {
    const raw = Array.from({ length: 100 }, (_, i) => [`h${i}`, 'v'.repeat(1000)]).flat();
    const size = JSON.stringify(storedHeaders(raw, [])).length;
    expect(size).toBeGreaterThan(31_000);
    expect(size).toBeLessThan(34_000);
  });

  it('takes any names and values, also an odd number of them', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (raw) => {
        expect(() => JSON.stringify(storedHeaders(raw, raw.slice(0, 1)))).not.toThrow();
      }),
    );
  });
});

describe('headerRecord', () => {
  it('keeps everything, since signatures are checked on it', () => {
    expect({ ...headerRecord(['Stripe-Signature', 't=1', 'Cookie', 'a', 'COOKIE', 'b']) }).toEqual({
      'stripe-signature': 't=1',
      cookie: 'a, b',
    });
  });
});
