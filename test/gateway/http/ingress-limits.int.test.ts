import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { LOCAL_INGRESS } from '../../../gateway/lib/ingress-config.ts';
import { maintain } from '../../../gateway/projects/maintenance.ts';
import type { IngressLimits } from '../../../shared/rules/inbox/ingress-limit.ts';
import { NO_INGRESS_LIMITS } from '../../../shared/rules/inbox/ingress-limit.ts';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { mailsOf } from '../../helpers/outbox.ts';
import { parsedMail } from '../mail/parsed-mail.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const DAY_MS = 86_400_000;

let clock: FakeClock;
let gateway: TestGateway;
afterEach(() => gateway.stop());

async function start(limits: Partial<IngressLimits>): Promise<string> {
  clock = new FakeClock();
  const ingress = { ...LOCAL_INGRESS, limits: { ...NO_INGRESS_LIMITS, ...limits } };
  gateway = await TestGateway.start({ clock, ingress });
  return gateway.addSource({ name: 'open' });
}

const post = (url: string, bytes: number) => gateway.deliver(url, Buffer.from(randomBytes(bytes)));

interface Item {
  readonly id: string;
  readonly type: string;
  readonly payload: Record<string, unknown>;
}

async function told(): Promise<Item[]> {
  const { body } = await gateway.call<{ items: Item[] }>('GET', '/v1/inbox?limit=100');
  return body.items.filter(({ type }) => type === 'source.limited');
}

interface Usage {
  readonly events: {
    readonly stored_bytes: number;
    readonly limit_bytes: number | null;
    readonly sources: readonly Record<string, unknown>[];
  };
}

const usage = async () => (await gateway.call<Usage>('GET', '/v1/usage')).body.events;

async function project() {
  const found = await gateway.gateway.projects.find(gateway.projectId);
  if (!found) throw new Error('There is no project.');
  return found;
}

/** Says how to retry: refusals of a source in 10 seconds come from memory, later ones from the rows. */
const forget = (): void => clock.advance(10_001);

describe('a source that has stored as much as it may', () => {
  it('is told to retry, until a purge makes room', async () => {
    const url = await start({ sourceBytes: 64 * KIB });
    const other = await gateway.addSource({ name: 'other' });
    expect((await post(url, 40 * KIB)).status).toBe(200);
    const second = Buffer.from(randomBytes(40 * KIB));
    expect((await gateway.deliver(url, second)).status).toBe(200);
    const stored = (await usage()).stored_bytes;
    const answer = await post(url, 10);
    expect(answer).toMatchObject({
      status: 429,
      body: {
        error: {
          code: 'RATE_LIMITED',
          details: { kind: 'source_bytes', limit: 64 * KIB, used: stored, retry_after: 3600 },
        },
      },
    });
    expect(answer.headers.get('retry-after')).toBe('3600');
    // The other source goes on, and a sender that repeats what it sent learns that it arrived.
    expect((await post(other, 10)).status).toBe(200);
    forget();
    expect(await gateway.deliver(url, second)).toMatchObject({ body: { status: 'duplicate' } });
    expect((await post(url, 10)).status).toBe(429);
    clock.advance(30 * DAY_MS);
    await maintain(await project(), clock);
    expect(await usage()).toMatchObject({ stored_bytes: 0, sources: [{ limited: null }, {}] });
    expect((await post(url, 10)).status).toBe(200);
  });

  it('is shown by source_get, source_list and usage', async () => {
    const url = await start({ sourceBytes: 10 * KIB });
    expect((await gateway.call('GET', '/v1/sources/open')).body).toMatchObject({ limited: null });
    await post(url, 10 * KIB);
    const { body } = await gateway.call('GET', '/v1/sources/open');
    expect(body).toMatchObject({
      limited: { kind: 'source_bytes', limit: 10 * KIB, used: body['stored_bytes'] },
    });
    expect((await gateway.call('GET', '/v1/sources')).body).toMatchObject({ items: [body] });
    expect((await usage()).sources).toMatchObject([
      { name: 'open', stored_bytes: body['stored_bytes'], limited: 'source_bytes' },
    ]);
  });

  it('tells the inbox and the owner once a day', async () => {
    const url = await start({ sourceBytes: 10 * KIB });
    await gateway.gateway.setOwner(gateway.projectId, 'ana@example.com');
    await post(url, 10 * KIB);
    for (let n = 0; n < 5; n += 1) {
      expect((await post(url, 10)).status).toBe(429);
      forget();
    }
    const [event, ...more] = await told();
    expect(more).toEqual([]);
    expect(event?.payload).toMatchObject({
      source: 'open',
      kind: 'source_bytes',
      limit: 10 * KIB,
      retry_after: 3600,
    });
    await expect.poll(() => mailsOf(gateway.folder).length).toBe(1);
    const mail = parsedMail(mailsOf(gateway.folder)[0] ?? '');
    expect(mail.text).toContain('have reached 10 KB');
    // It's claimable as other events.
    const claim = { body: { event_id: event?.id } };
    expect((await gateway.call('POST', '/v1/inbox/claim', claim)).status).toBe(200);
    clock.advance(DAY_MS);
    expect((await post(url, 10)).status).toBe(429);
    // The lease of the first has run out.
    expect(await told()).toHaveLength(2);
    await expect.poll(() => mailsOf(gateway.folder).length).toBe(2);
  });
});

describe('all sources of a project', () => {
  it('share the quota of the project', async () => {
    const url = await start({ projectBytes: 64 * KIB });
    const other = await gateway.addSource({ name: 'other' });
    await post(url, 40 * KIB);
    await post(other, 40 * KIB);
    for (const each of [url, other]) {
      expect(await post(each, 10)).toMatchObject({
        status: 429,
        body: { error: { details: { kind: 'project_bytes' } } },
      });
    }
  });
});

describe('a source that sends too fast', () => {
  it('is told when the minute ends, and goes on then', async () => {
    const url = await start({ eventsPerMinute: 3 });
    for (let n = 0; n < 3; n += 1) expect((await post(url, 10)).status).toBe(200);
    // The clock began 5 seconds into its minute.
    expect(await post(url, 10)).toMatchObject({
      status: 429,
      body: {
        error: { details: { kind: 'events_per_minute', limit: 3, used: 3, retry_after: 55 } },
      },
    });
    clock.advance(55_000);
    expect((await post(url, 10)).status).toBe(200);
  });

  it('is told when ten minutes end if it sends too much', async () => {
    const url = await start({ bytesPerTenMinutes: MIB });
    expect((await post(url, MIB)).status).toBe(200);
    const answer = await post(url, 10);
    const { details } = (answer.body as { error: { details: Record<string, unknown> } }).error;
    expect(details).toMatchObject({ kind: 'bytes_per_10_minutes', limit: MIB });
    clock.advance(Number(details['retry_after']) * 1000);
    expect((await post(url, 10)).status).toBe(200);
  });

  it('stores as many as it may of those that arrive together', async () => {
    const url = await start({ eventsPerMinute: 20 });
    const answers = await Promise.all(Array.from({ length: 60 }, () => post(url, 100)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(40);
    expect((await usage()).sources).toMatchObject([{ events_this_minute: 20 }]);
  });
});
