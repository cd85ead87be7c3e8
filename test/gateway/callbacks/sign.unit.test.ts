import * as fc from 'fast-check';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { describe, expect, it } from 'vitest';
import { newSigningSecret, signatureHeaders } from '../../../gateway/callbacks/sign.ts';

const LIBRARIES = [
  ['standardwebhooks', StandardWebhook],
  ['svix', SvixWebhook],
] as const;

describe('a new secret', () => {
  it('is 32 random bytes in the form of Standard Webhooks', () => {
    const secrets = Array.from({ length: 100 }, newSigningSecret);
    expect(new Set(secrets).size).toBe(100);
    for (const secret of secrets) expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  });
});

describe('the signature', () => {
  it('is that of the example of the specification', () => {
    expect(
      signatureHeaders({
        id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        body: '{"test": 2432232314}',
        nowMs: 1_614_265_330_999,
        secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
      }),
    ).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it.each(LIBRARIES)('is accepted by %s, for any JSON', (_name, Library) => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const secret = newSigningSecret();
        const body = JSON.stringify({ value });
        for (const sent of [body, Buffer.from(body)]) {
          const headers = signatureHeaders({
            id: 'evt_01',
            body: sent,
            nowMs: Date.now(),
            secrets: [secret],
          });
          expect(new Library(secret).verify(body, { ...headers })).toEqual(JSON.parse(body));
        }
      }),
    );
  });

  it.each(LIBRARIES)('is there for either secret while one is changed (%s)', (_name, Library) => {
    const [newer, older, other] = [newSigningSecret(), newSigningSecret(), newSigningSecret()];
    const body = '{"a":1}';
    const message = { id: 'evt_01', body, nowMs: Date.now(), secrets: [newer, older] };
    const headers = { ...signatureHeaders(message) };
    expect(headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
    expect(new Library(newer).verify(body, headers)).toEqual({ a: 1 });
    expect(new Library(older).verify(body, headers)).toEqual({ a: 1 });
    expect(() => new Library(other).verify(body, headers)).toThrow('No matching signature');
    expect(() => new Library(newer).verify('{"a":2}', headers)).toThrow('No matching signature');
    const renamed = { ...headers, 'webhook-id': 'evt_02' };
    expect(() => new Library(newer).verify(body, renamed)).toThrow('No matching signature');
  });

  it('tells the time of the attempt, and the same id each time', () => {
    const message = { id: 'evt_01', body: '', secrets: [newSigningSecret()] };
    const first = signatureHeaders({ ...message, nowMs: 1_000_000 });
    const second = signatureHeaders({ ...message, nowMs: 61_000_000 });
    expect([first['webhook-timestamp'], second['webhook-timestamp']]).toEqual(['1000', '61000']);
    expect(second['webhook-id']).toBe(first['webhook-id']);
    expect(second['webhook-signature']).not.toBe(first['webhook-signature']);
  });

  it.each([
    ['no secret', 'evt_01', []],
    ['an empty secret', 'evt_01', ['']],
    ['a secret that is no base64', 'evt_01', ['whsec_not base64']],
    ['a secret of a few bytes', 'evt_01', ['whsec_YWJj']],
    ['a good and a bad secret', 'evt_01', [newSigningSecret(), 'whsec_']],
    ['an id with a dot', 'evt_01.2', [newSigningSecret()]],
    ['an empty id', '', [newSigningSecret()]],
  ])('is not made with %s', (_what, id, secrets) => {
    expect(() => signatureHeaders({ id, body: '{}', nowMs: 0, secrets })).toThrow(TypeError);
  });
});
