import { describe, expect, it } from 'vitest';
import { bodyHash, providerId } from '../../../gateway/http/delivery-key.ts';

const ALL = {
  'x-github-delivery': 'gh-1',
  'webhook-id': 'wh-1',
  'svix-id': 'svix-1',
  'idempotency-key': 'idem-1',
};

const idOf = (id: string) => providerId({ verification: 'stripe', headers: {}, payload: { id } });

describe('providerId', () => {
  it.each([
    ['stripe', ALL, { id: 'evt_1' }, 'evt_1'],
    ['stripe', ALL, { id: 7 }, '7'],
    ['stripe', ALL, { id: {} }, null],
    ['stripe', ALL, { id: '' }, null],
    ['stripe', ALL, null, null],
    ['stripe', ALL, Object.create({ id: 'inherited' }), null],
    ['github', ALL, { id: 'x' }, 'gh-1'],
    ['github', { 'webhook-id': 'wh-1', 'idempotency-key': 'i' }, {}, null],
    ['hmac_sha256', ALL, { id: 'x' }, 'wh-1'],
    ['hmac_sha256', { 'svix-id': 's', 'idempotency-key': 'i' }, {}, 's'],
    ['hmac_sha256', { 'idempotency-key': 'i' }, {}, 'i'],
    ['none', { 'webhook-id': '', 'idempotency-key': 'i' }, {}, 'i'],
    ['none', { 'x-github-delivery': 'gh-1' }, { id: 'x' }, 'gh-1'],
    ['hmac_sha256', { 'x-shopify-webhook-id': 'sh-1' }, {}, 'sh-1'],
    ['none', { 'ce-id': '7', 'ce-source': '/a' }, {}, '7./a'],
    ['none', {}, {}, null],
  ] as const)('%s %j %j is %s', (verification, headers, payload, expected) => {
    expect(providerId({ verification, headers, payload })).toBe(expected);
  });

  it('believes only the signed family of a standard webhook', () => {
    const svix = { 'svix-id': 'signed', 'svix-timestamp': '1', 'svix-signature': 'v1,x' };
    const headers = { ...svix, 'webhook-id': 'added', 'idempotency-key': 'added' };
    expect(providerId({ verification: 'standard_webhooks', headers, payload: {} })).toBe('signed');
  });

  it('keeps 255 printable characters and hashes what is longer or odd', () => {
    expect(idOf('a'.repeat(255))).toBe('a'.repeat(255));
    const long = [`${'a'.repeat(255)}b`, `${'a'.repeat(255)}c`, 'a\0b', 'a\0c', 'é'].map(idOf);
    for (const id of long) expect(id).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(new Set(long).size).toBe(long.length);
  });
});

describe('bodyHash', () => {
  it('is SHA-256 of the raw bytes', () => {
    expect(Buffer.from(bodyHash(Buffer.from('abc'))).toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });
});
