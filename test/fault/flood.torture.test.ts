import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { HOSTED_INGRESS, LOCAL_INGRESS } from '../../gateway/lib/ingress-config.ts';
import { NO_INGRESS_LIMITS, type IngressLimits } from '../../shared/rules/inbox/ingress-limit.ts';
import { filesUnder } from '../helpers/files.ts';
import { FakeClock, TestGateway } from '../helpers/gateway.ts';

const MIB = 1024 * 1024;
const BODY = 5 * MIB;
const POSTS = 240;
const AT_ONCE = 4;

let gateway: TestGateway;
afterEach(() => gateway.stop());

/** A stranger who knows a hook address posts 240 bodies of 5 MB, each another one; returns how many were accepted. */
async function flood(url: string): Promise<number> {
  let [sent, accepted] = [0, 0];
  const random = randomBytes(BODY);
  const post = async (): Promise<void> => {
    while (sent < POSTS) {
      sent += 1;
      const body = Buffer.from(random);
      body.writeUInt32LE(sent);
      // A sender whose body is refused may find the connection reset.
      const { status } = await gateway.deliver(url, body).catch(() => ({ status: 0 }));
      if (status === 200) accepted += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, post));
  return accepted;
}

interface Outcome {
  readonly accepted: number;
  readonly storedBytes: number;
  readonly seconds: number;
  /** Of a neighbour's deliveries meanwhile, in milliseconds: printed for comparison, as it depends on the machine. */
  readonly neighbourMs: number;
}

/** Floods one project of a gateway with these limits while another project gets its deliveries, each of which must arrive. */
async function flooded(limits: IngressLimits): Promise<Outcome> {
  // Time stands still, so that no ten minutes end in between.
  const ingress = { ...LOCAL_INGRESS, limits };
  gateway = await TestGateway.start({ clock: new FakeClock(), ingress });
  const url = await gateway.addSource({ name: 'open' });
  const { apiKey: key } = await gateway.gateway.createProject({ name: 'Other', slug: 'other' });
  const body = { type: 'webhook', name: 'open' };
  const other = await gateway.call<{ url: string }>('POST', '/v1/sources', { key, body });
  const startedAt = performance.now();
  const over = new AbortController();
  const flooding = flood(url).finally(() => over.abort());
  const times: number[] = [];
  while (!over.signal.aborted) {
    const at = performance.now();
    expect((await gateway.deliver(other.body.url, `{"n":${times.length}}`)).status).toBe(200);
    times.push(performance.now() - at);
  }
  const usage = await gateway.call<{ events: { stored_bytes: number } }>('GET', '/v1/usage');
  return {
    accepted: await flooding,
    storedBytes: usage.body.events.stored_bytes,
    seconds: (performance.now() - startedAt) / 1000,
    neighbourMs: times.toSorted((one, two) => one - two)[Math.floor(times.length / 2)] ?? 0,
  };
}

const blobs = () => filesUnder(gateway.folder).filter((path) => path.includes('/blobs/'));

describe('240 anonymous posts of 5 MB', () => {
  let unlimited: Outcome;

  it('are all stored without limits', async () => {
    unlimited = await flooded(NO_INGRESS_LIMITS);
    expect(unlimited.accepted).toBe(POSTS);
    expect(unlimited.storedBytes).toBeGreaterThan(POSTS * BODY);
  });

  it.each([
    ['the rate of a hosted gateway, after 200 MB', HOSTED_INGRESS.limits, 200 * MIB],
    ['a quota of 512 MB', { ...NO_INGRESS_LIMITS, sourceBytes: 512 * MIB }, 512 * MIB],
  ])('are stopped by %s, and a neighbour gets each of its deliveries', async (_, limits, most) => {
    const limited = await flooded(limits);
    // The last one may pass the limit by its own size.
    expect(limited.storedBytes).toBeGreaterThanOrEqual(most);
    expect(limited.storedBytes).toBeLessThan(most + BODY + MIB);
    expect(limited.accepted).toBe(Math.floor(limited.storedBytes / BODY));
    // Refused bodies leave nothing behind.
    await expect.poll(() => blobs().length).toBe(limited.accepted);
    process.stdout.write(`${JSON.stringify({ unlimited, limited })}\n`);
  });
});
