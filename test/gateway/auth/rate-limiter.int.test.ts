import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';

const BURST = 100;
let clock: FakeClock;
let gateway: TestGateway;
beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock, ratePerMinute: 60 });
});
afterEach(() => gateway.stop());

const whoami = (key?: string) => gateway.call('GET', '/v1/whoami', { ...(key && { key }) });

describe('the rate of a key', () => {
  it('is told by each answer, and refused beyond with the time to wait', async () => {
    const first = await whoami();
    expect(first.headers.get('ratelimit-policy')).toBe('"key";q=60;w=60');
    expect(first.headers.get('ratelimit')).toBe(`"key";r=${BURST - 1};t=1`);
    for (let n = 1; n < BURST; n += 1) expect((await whoami()).status).toBe(200);
    const refused = await whoami();
    expect(refused).toMatchObject({
      status: 429,
      body: { error: { code: 'RATE_LIMITED', details: { retry_after: 1 } } },
    });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('ratelimit')).toBe(`"key";r=0;t=${BURST}`);
    clock.advance(999);
    expect((await whoami()).status).toBe(429);
    clock.advance(1);
    expect((await whoami()).status).toBe(200);
    expect((await whoami()).status).toBe(429);
    clock.advance(3_600_000);
    const full = await whoami();
    expect(full.headers.get('ratelimit')).toBe(`"key";r=${BURST - 1};t=1`);
  });

  it('is its own: another key is not refused, nor are waits and webhooks', async () => {
    const other = await gateway.key('inbox:read');
    const url = await gateway.addSource({ name: 'open' });
    let status = 200;
    for (let n = 0; n <= BURST && status === 200; n += 1) ({ status } = await whoami());
    expect(status).toBe(429);
    expect((await whoami(other)).status).toBe(200);
    for (let n = 0; n < 3; n += 1) {
      expect((await gateway.deliver(url, `body ${n}`)).status).toBe(200);
      const waited = await gateway.call('GET', '/v1/inbox/wait');
      expect(waited.status).toBe(200);
      expect(waited.headers.get('ratelimit')).toBeNull();
      expect(waited.body['event']).not.toBeNull();
    }
  });

  it('is taken by calls that are refused, too', async () => {
    for (let n = 0; n < BURST; n += 1) {
      const answer = await gateway.call('POST', '/v1/inbox/claim', { body: { nonsense: n } });
      expect(answer.status).toBe(400);
    }
    expect((await whoami()).status).toBe(429);
  });
});
