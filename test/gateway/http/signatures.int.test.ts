import { createHmac } from 'node:crypto';
import { rmSync } from 'node:fs';
import { sign } from '@octokit/webhooks-methods';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../helpers/gateway.ts';

const json = { 'content-type': 'application/json' };
const SECRET = 'shared secret with spaces';
const WHSEC = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
const body = JSON.stringify({ id: 'evt_1', type: 'invoice.paid', text: 'naïve 🙂' });

let gateway: TestGateway;
const urls: Record<string, string> = {};

beforeAll(async () => {
  gateway = await TestGateway.start();
  const sources = [
    { name: 'stripe', verification: 'stripe', secret: 'whsec_stripe' },
    { name: 'github', verification: 'github', secret: SECRET },
    { name: 'hmac', verification: 'hmac_sha256', secret: SECRET },
    { name: 'own-header', verification: 'hmac_sha256', secret: SECRET, signature_header: 'X-Mine' },
    { name: 'standard', verification: 'standard_webhooks', secret: WHSEC },
  ];
  for (const source of sources) urls[source.name] = await gateway.addSource(source);
});
afterAll(async () => {
  await gateway.stop();
  // One test starts the gateway again in its folder.
  rmSync(gateway.folder, { recursive: true, force: true });
});

const post = (source: string, text: string, headers: Record<string, string>) =>
  gateway.deliver(urls[source] ?? '', text, { ...json, ...headers });

type Headers = Record<string, string>;

function stripeHeaders(payload: string, timestamp = Math.floor(Date.now() / 1000)): Headers {
  const options = { payload, secret: 'whsec_stripe', timestamp };
  return { 'stripe-signature': Stripe.webhooks.generateTestHeaderString(options) };
}

function standardHeaders(payload: string, at = new Date(), family = 'webhook'): Headers {
  const Library = family === 'svix' ? SvixWebhook : StandardWebhook;
  return {
    [`${family}-id`]: `msg_${family}`,
    [`${family}-timestamp`]: String(Math.floor(at.getTime() / 1000)),
    [`${family}-signature`]: new Library(WHSEC).sign(`msg_${family}`, at, payload),
  };
}

const mac = (encoding: 'hex' | 'base64', secret = SECRET): string =>
  createHmac('sha256', secret).update(body).digest(encoding);

/** Every scheme, signed as the provider's own library signs. */
const schemes: [string, string, () => Headers | Promise<Headers>][] = [
  ['stripe, by its library', 'stripe', () => stripeHeaders(body)],
  [
    'github, by its library',
    'github',
    async () => ({ 'x-hub-signature-256': await sign(SECRET, body) }),
  ],
  ['hmac in hex', 'hmac', () => ({ 'x-signature': mac('hex') })],
  ['hmac in upper-case hex', 'hmac', () => ({ 'x-signature': mac('hex').toUpperCase() })],
  ['hmac in base64', 'hmac', () => ({ 'x-signature': mac('base64') })],
  ['hmac with its algorithm', 'hmac', () => ({ 'x-signature': `sha256=${mac('hex')}` })],
  ['hmac in a header of its own', 'own-header', () => ({ 'x-mine': mac('hex') })],
  ['standard webhooks, by its library', 'standard', () => standardHeaders(body)],
  ['svix, by its library', 'standard', () => standardHeaders(body, new Date(), 'svix')],
];

describe('a signed delivery', () => {
  it.each(schemes)('is taken: %s', async (_name, source, headers) => {
    const answer = await post(source, body, await headers());
    expect(answer.status).toBe(200);
    expect(['accepted', 'duplicate']).toContain(answer.body['status']);
    const { body: list } = await gateway.call<{ items: { id: string; verified: boolean }[] }>(
      'GET',
      `/v1/inbox?source=${source}`,
    );
    const event = list.items.find(({ id }) => id === answer.body['event_id']);
    expect(event?.verified).toBe(true);
  });

  it.each(schemes)('is refused with another body: %s', async (_name, source, headers) => {
    const answer = await post(source, body.replace('paid', 'Paid'), await headers());
    expect(answer.status).toBe(401);
    expect(answer.body).toMatchObject({ error: { code: 'INGRESS_SIGNATURE_INVALID' } });
    expect(JSON.stringify(answer.body)).not.toContain(SECRET);
  });

  it.each(schemes)(
    'is refused with another signature or none: %s',
    async (_name, source, headers) => {
      const signed = await headers();
      const name = Object.keys(signed).find((key) => /signature|x-mine/.test(key)) ?? '';
      const value = signed[name] ?? '';
      const middle = value.length - 12;
      const other = value[middle] === '1' ? '2' : '1';
      const tampered = value.slice(0, middle) + other + value.slice(middle + 1);
      for (const bad of [tampered, value.slice(0, -1), '', 'v1=', 'sha256=']) {
        expect(await post(source, body, { ...signed, [name]: bad })).toMatchObject({ status: 401 });
      }
      const { [name]: _left, ...without } = signed;
      expect((await post(source, body, without)).status).toBe(401);
    },
  );
});

const now = (): number => Math.floor(Date.now() / 1000);

describe('the time of a signature', () => {
  it('is signed too', async () => {
    const headers = stripeHeaders(body, now() - 310);
    const fresh = headers['stripe-signature']?.replace(/t=\d+/, `t=${now()}`) ?? '';
    expect((await post('stripe', body, { 'stripe-signature': fresh })).status).toBe(401);
    const standard = standardHeaders(body, new Date(Date.now() - 310_000));
    const moved = { ...standard, 'webhook-timestamp': String(now()) };
    expect((await post('standard', body, moved)).status).toBe(401);
  });

  it('comes with an id that is signed', async () => {
    const headers = { ...standardHeaders(body), 'webhook-id': 'msg_other' };
    expect((await post('standard', body, headers)).status).toBe(401);
  });
});

describe('a secret', () => {
  it('that is being rotated by the sender is one of several signatures', async () => {
    const timestamp = Math.floor(Date.now() / 1000);
    const good = stripeHeaders(body, timestamp)['stripe-signature'] ?? '';
    const [t = '', v1 = ''] = good.split(',');
    const both = `${t},v1=${'0'.repeat(64)},${v1},v0=${'1'.repeat(64)}`;
    expect((await post('stripe', body, { 'stripe-signature': both })).status).toBe(200);
  });

  it('of another source does not open this one', async () => {
    const signature = `sha256=${mac('hex', 'another secret')}`;
    expect((await post('github', body, { 'x-hub-signature-256': signature })).status).toBe(401);
  });

  it('never comes back, in no answer about sources', async () => {
    const answer = await gateway.call('GET', '/v1/sources');
    const text = JSON.stringify(answer.body);
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(WHSEC);
    expect(text).toContain('own-header');
  });

  it('counts what it refused', async () => {
    await post('hmac', body, {});
    await gateway.stop({ keepFolder: true });
    gateway = await TestGateway.start({ folder: gateway.folder });
    const [first] = await gateway.gateway.listProjects();
    const { apiKey } = await gateway.gateway.createAdminKey(first?.id ?? '');
    const answer = await gateway.call<{ items: { name: string; rejected_24h: number }[] }>(
      'GET',
      '/v1/sources',
      { key: apiKey },
    );
    const hmac = answer.body.items.find(({ name }) => name === 'hmac');
    expect(hmac?.rejected_24h).toBeGreaterThan(0);
  });
});
