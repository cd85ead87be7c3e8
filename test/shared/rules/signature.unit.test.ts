import { createHmac } from 'node:crypto';
import { sign as signGithub } from '@octokit/webhooks-methods';
import * as fc from 'fast-check';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { describe, expect, it } from 'vitest';
import {
  checkSecret,
  signWebhook,
  verifySignature,
} from '../../../shared/rules/payload/signature.ts';
import type { Verification } from '../../../shared/senders/registry.ts';
import type { HeaderRecord } from '../../../shared/senders/sender.ts';
import { storedHeaders } from '../../../gateway/http/stored-headers.ts';
import { growsInProportion } from '../../helpers/growth.ts';

const NOW_SECONDS = 1_700_000_000;
const BODY = Buffer.from('{"name":"Zoë €"}');
const KEY = Buffer.from('0123456789abcdef0123456789abcdef');
const STANDARD_SECRET = `whsec_${KEY.toString('base64')}`;

const stripe = new Stripe('sk_test_unused');

const verify = (
  verification: Verification,
  headers: HeaderRecord,
  more: { secrets?: string[]; body?: Uint8Array; signatureHeader?: string; nowMs?: number } = {},
): boolean =>
  verifySignature({
    verification,
    headers,
    secrets: ['s3cret'],
    body: BODY,
    nowMs: NOW_SECONDS * 1000,
    ...more,
  });

const hmac = (secret: string | Buffer, text: string | Buffer) =>
  createHmac('sha256', secret).update(text);

describe('stripe', () => {
  const headerOf = (timestamp = NOW_SECONDS, secret = 's3cret') =>
    stripe.webhooks.generateTestHeaderString({ payload: BODY.toString(), secret, timestamp });

  it("accepts what Stripe's own library signs, and it accepts ours", () => {
    expect(verify('stripe', { 'stripe-signature': headerOf() })).toBe(true);
    const nowMs = Date.now();
    const headers = signWebhook({
      verification: 'stripe',
      secret: 'whsec_x',
      id: '',
      body: BODY,
      nowMs,
    });
    const signature = headers['stripe-signature'] ?? '';
    expect(stripe.webhooks.constructEvent(BODY, signature, 'whsec_x')).toBeTruthy();
  });

  it.each([
    [-300, true],
    [-301, false],
    [300, true],
    [301, false],
  ])('with a timestamp %i s from now: %s', (offset, accepted) => {
    expect(verify('stripe', { 'stripe-signature': headerOf(NOW_SECONDS + offset) })).toBe(accepted);
  });

  it('accepts any of several v1, in any order, with other schemes and spaces between', () => {
    const [timestamp, v1] = headerOf().split(',');
    const wrong = `v1=${'0'.repeat(64)}`;
    for (const header of [
      `${timestamp},${wrong},${v1}`,
      `${v1}, ${timestamp} ,${wrong}`,
      `${timestamp},v0=abc,${v1?.toUpperCase().replace('V1', 'v1')}`,
    ]) {
      expect(verify('stripe', { 'stripe-signature': header })).toBe(true);
    }
  });

  it.each([
    '',
    't=',
    `t=${NOW_SECONDS}`,
    `t=${NOW_SECONDS},v1=`,
    `t=${NOW_SECONDS}000,v1=${'0'.repeat(64)}`,
    ',,,=,=',
  ])('refuses %j', (header) => {
    expect(verify('stripe', { 'stripe-signature': header })).toBe(false);
  });

  it('refuses two timestamps, odd timestamps and v0', () => {
    const [timestamp, v1 = ''] = headerOf().split(',');
    const odd = `+${NOW_SECONDS}`;
    const oddSignature = hmac('s3cret', `${odd}.${BODY.toString()}`).digest('hex');
    for (const header of [
      `${timestamp},${timestamp},${v1}`,
      `${timestamp},${v1.replace('v1', 'v0')}`,
      `t=${odd},v1=${oddSignature}`,
      v1,
    ]) {
      expect(verify('stripe', { 'stripe-signature': header })).toBe(false);
    }
  });
});

describe('github', () => {
  it('accepts what Octokit signs, and signs the same', async () => {
    const expected = await signGithub('s3cret', BODY.toString());
    expect(verify('github', { 'x-hub-signature-256': expected })).toBe(true);
    expect(
      signWebhook({ verification: 'github', secret: 's3cret', id: '', body: BODY, nowMs: 0 }),
    ).toEqual({ 'x-hub-signature-256': expected });
  });

  it('refuses SHA-1, a missing prefix and base64', () => {
    const hex = hmac('s3cret', BODY).digest('hex');
    const sha1 = createHmac('sha1', 's3cret').update(BODY).digest('hex');
    expect(verify('github', { 'x-hub-signature': `sha1=${sha1}` })).toBe(false);
    expect(verify('github', { 'x-hub-signature': `sha256=${hex}` })).toBe(false);
    expect(verify('github', { 'x-hub-signature-256': hex })).toBe(false);
    const base64 = Buffer.from(hex, 'hex').toString('base64');
    expect(verify('github', { 'x-hub-signature-256': `sha256=${base64}` })).toBe(false);
  });
});

describe('hmac_sha256', () => {
  const hex = hmac('s3cret', BODY).digest('hex');
  const base64 = hmac('s3cret', BODY).digest('base64');

  it.each([
    hex,
    hex.toUpperCase(),
    `sha256=${hex}`,
    `SHA256=${hex}`,
    ` ${hex} `,
    base64,
    `sha256=${base64}`,
  ])('accepts %j', (value) => {
    expect(verify('hmac_sha256', { 'x-signature': value })).toBe(true);
  });

  it.each([
    '',
    'sha256=',
    hex.slice(1),
    `${hex}0`,
    hex.replace(/./, 'g'),
    base64.replace('=', ''),
    base64.toLowerCase(),
    `sha1=${hex}`,
    `${hex}, ${hex}`,
    'é'.repeat(64),
    'é'.repeat(32),
  ])('refuses %j', (value) => {
    expect(verify('hmac_sha256', { 'x-signature': value })).toBe(false);
  });

  it('refuses a signature made with the empty key, though such a secret were stored', () => {
    const forged = { 'x-signature': hmac('', BODY).digest('hex') };
    expect(verify('hmac_sha256', forged, { secrets: [''] })).toBe(false);
  });

  it('reads the configured header only, whatever its case and name', () => {
    const signatureHeader = 'X-My-Sig';
    expect(verify('hmac_sha256', { 'x-my-sig': hex }, { signatureHeader })).toBe(true);
    expect(verify('hmac_sha256', { 'x-signature': hex }, { signatureHeader })).toBe(false);
    expect(verify('hmac_sha256', {}, { signatureHeader: 'constructor' })).toBe(false);
    expect(
      signWebhook({
        verification: 'hmac_sha256',
        signatureHeader,
        secret: 's3cret',
        id: '',
        body: BODY,
        nowMs: 0,
      }),
    ).toEqual({ 'x-my-sig': `sha256=${hex}` });
  });
});

const check = (headers: HeaderRecord, secrets = [STANDARD_SECRET]) =>
  verify('standard_webhooks', headers, { secrets });

describe('standard_webhooks', () => {
  const at = new Date(NOW_SECONDS * 1000);
  const signed = (seconds = NOW_SECONDS, id = 'msg_1', family = 'webhook') => ({
    [`${family}-id`]: id,
    [`${family}-timestamp`]: String(seconds),
    [`${family}-signature`]: `v1,${hmac(KEY, `${id}.${seconds}.${BODY.toString()}`).digest('base64')}`,
  });
  it('agrees with the libraries of Standard Webhooks and Svix', () => {
    const headers = signed();
    const library = new StandardWebhook(STANDARD_SECRET);
    expect(library.sign('msg_1', at, BODY.toString())).toBe(headers['webhook-signature']);
    expect(new SvixWebhook(STANDARD_SECRET).sign('msg_1', at, BODY.toString())).toBe(
      headers['webhook-signature'],
    );
    expect(check(headers)).toBe(true);
    const ours = signWebhook({
      verification: 'standard_webhooks',
      secret: STANDARD_SECRET,
      id: 'msg_2',
      body: BODY,
      nowMs: Date.now(),
    });
    expect(library.verify(BODY.toString(), ours)).toEqual({ name: 'Zoë €' });
  });

  it('accepts svix headers, a secret without prefix, and one signature of several', () => {
    const headers = signed();
    expect(check(signed(NOW_SECONDS, 'msg_1', 'svix'))).toBe(true);
    expect(check(headers, [KEY.toString('base64')])).toBe(true);
    expect(check(headers, [STANDARD_SECRET.replace('=', '')])).toBe(true);
    const several = `v1a,AAAA v1,${'A'.repeat(43)}= ${headers['webhook-signature']}`;
    expect(check({ ...headers, 'webhook-signature': several })).toBe(true);
  });

  it.each([
    [-300, true],
    [-301, false],
    [300, true],
    [301, false],
  ])('with a timestamp %i s from now: %s', (offset, accepted) => {
    expect(check(signed(NOW_SECONDS + offset))).toBe(accepted);
  });

  it('does not mix the two families of headers', () => {
    const { 'webhook-id': id = '', ...rest } = signed();
    expect(check({ ...rest, 'svix-id': id })).toBe(false);
  });

  it('refuses an id with a dot, through which the body could move', () => {
    const [body, later] = ['1700000001.{}', NOW_SECONDS + 1];
    const signature = hmac(KEY, `msg_1.${NOW_SECONDS}.${body}`).digest('base64');
    const headers = {
      'webhook-id': `msg_1.${NOW_SECONDS}`,
      'webhook-timestamp': String(later),
      'webhook-signature': `v1,${signature}`,
    };
    const moved = { secrets: [STANDARD_SECRET], body: Buffer.from('{}') };
    expect(verify('standard_webhooks', headers, moved)).toBe(false);
  });

  it.each([
    'whsec_',
    'whsec_****************',
    'whsec_AAAA',
    `whsec_${'A'.repeat(20)}`,
    `whsec_${'A'.repeat(41)}`,
    `whsec_${'A'.repeat(41)}=`,
  ])('refuses the secret %s, which leaves too little of a key', (secret) => {
    const key = Buffer.from(secret.slice(6), 'base64');
    const signature = hmac(key, `msg_1.${NOW_SECONDS}.${BODY.toString()}`).digest('base64');
    expect(check({ ...signed(), 'webhook-signature': `v1,${signature}` }, [secret])).toBe(false);
  });
});

const SCHEMES = ['stripe', 'github', 'hmac_sha256', 'standard_webhooks'] as const;

describe.each(SCHEMES)('every scheme: %s', (verification) => {
  const sign = (body: Uint8Array, secret = STANDARD_SECRET) =>
    signWebhook({ verification, secret, id: 'msg_1', body, nowMs: NOW_SECONDS * 1000 });

  it('accepts its own signature over any bytes and refuses a changed byte', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), fc.nat(), (body, place) => {
        const headers = sign(body);
        const secrets = [STANDARD_SECRET];
        expect(verify(verification, headers, { secrets, body })).toBe(true);
        const changed = Uint8Array.from(body);
        changed[place % body.length] = ((body[place % body.length] ?? 0) + 1) % 256;
        expect(verify(verification, headers, { secrets, body: changed })).toBe(false);
      }),
      { numRuns: 50 },
    );
  });

  it('accepts either secret during rotation, and neither an empty one nor none', () => {
    const other = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
    const headers = sign(BODY);
    expect(verify(verification, headers, { secrets: [other, STANDARD_SECRET] })).toBe(true);
    expect(verify(verification, headers, { secrets: [STANDARD_SECRET, other] })).toBe(true);
    expect(verify(verification, headers, { secrets: [other] })).toBe(false);
    expect(verify(verification, headers, { secrets: [] })).toBe(false);
    expect(verify(verification, headers, { secrets: [''] })).toBe(false);
    expect(verify(verification, {}, { secrets: [STANDARD_SECRET] })).toBe(false);
  });

  it('never throws on hostile headers', () => {
    const names = [
      'stripe-signature',
      'x-hub-signature-256',
      'x-signature',
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
    ];
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary' }), { minLength: 6, maxLength: 6 }),
        (values) => {
          const headers = Object.fromEntries(names.map((name, i) => [name, values[i] ?? '']));
          expect(verify(verification, headers)).toBe(false);
        },
      ),
    );
  });

  it.each([' ', ',', 'v1,', 'v1=', 'sha256=', '1'])(
    'reads a megabyte of header in a time that grows with it and no faster: %j',
    (text) => {
      const read = (length: number): void => {
        const value = text.repeat(length / text.length);
        const headers = {
          ...sign(BODY),
          'stripe-signature': value,
          'x-hub-signature-256': value,
          'x-signature': value,
          'webhook-signature': value,
        };
        expect(verify(verification, headers)).toBe(false);
      };
      expect(growsInProportion(read, 1_000_000)).toBe(true);
    },
  );

  it('refuses an empty secret, white space around it and an endless one', () => {
    expect(checkSecret(verification, STANDARD_SECRET)).toBeNull();
    for (const secret of ['', ` ${STANDARD_SECRET}`, `${STANDARD_SECRET}\n`, 'A'.repeat(1028)]) {
      expect(checkSecret(verification, secret)).toMatch(/^The secret .*\.$/);
      expect(() => sign(BODY, secret)).toThrow(TypeError);
    }
  });

  it('has its header among those that are never stored', () => {
    const [name = ''] = Object.keys(sign(BODY)).toReversed();
    expect(Object.keys(storedHeaders([name, 'x'], []))).toEqual([]);
  });
});

describe('none', () => {
  it('verifies nothing and signs nothing', () => {
    expect(verify('none', { 'x-signature': hmac('s3cret', BODY).digest('hex') })).toBe(false);
    expect(signWebhook({ verification: 'none', secret: '', id: '', body: BODY, nowMs: 0 })).toEqual(
      {},
    );
    expect(checkSecret('none', '')).toBeNull();
  });
});

describe('checkSecret for standard_webhooks', () => {
  it.each([15, 16, 24, 64])('a key of %i bytes', (bytes) => {
    const secret = `whsec_${Buffer.alloc(bytes, 1).toString('base64')}`;
    expect(checkSecret('standard_webhooks', secret) === null).toBe(bytes >= 16);
  });

  it('refuses what is not base64, and ids that cannot be signed', () => {
    expect(checkSecret('standard_webhooks', 'correct horse battery staple')).toContain('base64');
    for (const id of ['', 'a.b']) {
      expect(() =>
        signWebhook({
          verification: 'standard_webhooks',
          secret: STANDARD_SECRET,
          id,
          body: BODY,
          nowMs: 0,
        }),
      ).toThrow(TypeError);
    }
  });
});
