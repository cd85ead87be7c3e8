import { createECDH, createPublicKey, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { encryptPush } from '../../../../gateway/channels/push/encrypt.ts';
import { readSubscription } from '../../../../gateway/lib/push/subscription.ts';
import {
  generateVapidKey,
  vapidHeader,
  vapidPublicKey,
} from '../../../../gateway/lib/push/vapid.ts';
import { FakeBrowser } from './fake-browser.ts';

describe('a push', () => {
  it('is encrypted as the example of RFC 8291 is', () => {
    const sender = createECDH('prime256v1');
    sender.setPrivateKey(Buffer.from('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw', 'base64url'));
    const subscription = {
      endpoint: 'https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV',
      p256dh:
        'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
      auth: 'BTBZMqHH6r4Tts7J_aSIgg',
    };
    const message = Buffer.from('When I grow up, I want to be a watermelon');
    const salt = Buffer.from('DGv6ra1nlYgDCS1FRnbzlw', 'base64url');
    expect(encryptPush(message, subscription, { salt, sender }).toString('base64url')).toBe(
      'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
    );
  });

  it('is new each time, and only its browser opens it', () => {
    const browser = new FakeBrowser('https://push.example.com/1');
    const [first, second] = [0, 0].map(() => encryptPush(Buffer.from('x'), browser.subscription));
    expect(first).not.toEqual(second);
    expect(browser.open(first ?? Buffer.alloc(0))).toBe('x');
    const other = new FakeBrowser('https://push.example.com/2');
    expect(() => other.open(first ?? Buffer.alloc(0))).toThrow(/authenticate/);
  });

  it('says who sends it, and the push service can check that', () => {
    const key = generateVapidKey();
    const now = Date.UTC(2026, 0, 2);
    const endpoint = 'https://push.example.com:8443/abc?d=e';
    const header = vapidHeader(key, { endpoint, contact: 'https://svc.example.com', now });
    const [, token = '', publicKey = ''] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(header) ?? [];
    expect(publicKey).toBe(vapidPublicKey(key));
    const [head = '', claims = '', signature = ''] = token.split('.');
    const { d: _secret, ...open } = key;
    const checked = verify(
      'sha256',
      Buffer.from(`${head}.${claims}`),
      { key: createPublicKey({ key: open, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    );
    expect(checked).toBe(true);
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual({
      aud: 'https://push.example.com:8443',
      exp: now / 1000 + 43_200,
      sub: 'https://svc.example.com',
    });
  });
});

describe('a subscription', () => {
  const { subscription } = new FakeBrowser('https://push.example.com/1');
  const { endpoint, p256dh, auth } = subscription;
  const sent = { endpoint, expirationTime: null, keys: { p256dh, auth } };

  it('is what the browser gives', () => {
    expect(readSubscription(JSON.stringify(sent))).toEqual(subscription);
  });

  it.each([
    ['no JSON', '{'],
    ['null', 'null'],
    ['no keys', JSON.stringify({ endpoint })],
    ['null for keys', JSON.stringify({ endpoint, keys: null })],
    ['a short key', JSON.stringify({ ...sent, keys: { p256dh: 'BAAA', auth } })],
    [
      'a compressed key',
      JSON.stringify({ ...sent, keys: { p256dh: `A${p256dh.slice(1)}`, auth } }),
    ],
    [
      'a secret of another length',
      JSON.stringify({ ...sent, keys: { p256dh, auth: `${auth}AA` } }),
    ],
    ['a number for an address', JSON.stringify({ ...sent, endpoint: 7 })],
    [
      'a long address',
      JSON.stringify({ ...sent, endpoint: `https://x.example/${'x'.repeat(2100)}` }),
    ],
  ])('is never %s', (_what, text) => {
    expect(readSubscription(text)).toBeNull();
  });
});
