import { Pace } from '../../../shared/kernel/pace.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runLocally } from '../../../daemon/replica/serve/local-call.ts';
import { SavedTrustedClock } from '../../../gateway/projects/trusted-clock.ts';
import { maintain } from '../../../gateway/projects/maintenance.ts';
import type { Envelope } from '../../../shared/kernel/envelope.ts';
import { parseInput } from '../../../shared/kernel/operation.ts';
import { inboxList } from '../../../shared/operations/inbox/list.ts';
import { Waits } from '../../../shared/kernel/waits.ts';
import { caller } from '../../helpers/calls.ts';
import { FakeClock, TestGateway, temporaryFolder, UNSTEADY } from '../../helpers/gateway.ts';
import { LOOPBACK, Receiver } from '../callbacks/callback-receiver.ts';
import { arrived, fileWith, mailWith } from '../mail/inbound/arrivals.ts';
import { TestSending } from '../mail/outbound/sending.ts';
import { refused } from '../approvals/people.ts';
import { projectOf, Routes } from '../../shared/operations/route/routes.ts';
import { placeOf } from '../web/inbox/places.ts';
import { WebVisitor } from '../web/inbox/web-visitor.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const GONE = { payload: null, payload_purged: true };

describe('a payload past 30 days, while the clock may not be trusted to delete it', () => {
  let mail: TestSending;
  let clock: FakeClock;
  let receiver: Receiver;
  let routes: Routes;
  beforeEach(async () => {
    mail = await TestSending.start({ deletionClock: UNSTEADY, callbackAllow: LOOPBACK });
    ({ clock } = mail);
    receiver = await Receiver.start();
    routes = new Routes(mail.gateway);
  });
  afterEach(async () => {
    await mail.stop();
    await receiver.stop();
  });

  const call = <T = Record<string, unknown>>(method: string, path: string, body?: unknown) =>
    mail.call<T>(method, path, body);
  const listed = async (status = 'pending') =>
    (await call<{ items: Envelope[] }>('GET', `/v1/inbox?status=${status}`)).body.items;
  const claim = async (event_id: string) =>
    (await call<Envelope>('POST', '/v1/inbox/claim', { event_id })).body;
  const file = (path: string) => call('GET', `/v1/files/${encodeURIComponent(path)}`);

  it('is shown up to its last millisecond', async () => {
    const id = await routes.event();
    clock.advance(30 * DAY_MS);
    await maintain(mail.project, clock, { deletionClock: UNSTEADY });
    expect(await listed()).toMatchObject([{ id, payload: { n: 1 }, payload_purged: false }]);
    clock.advance(1);
    expect(await listed()).toMatchObject([{ id, ...GONE }]);
    // Nothing was deleted: a clock that was wrong may be set right.
    clock.advance(-1);
    expect(await listed()).toMatchObject([{ id, payload: { n: 1 }, payload_purged: false }]);
  });

  it('is neither listed nor given to who reads, waits for or claims its event', async () => {
    const id = await routes.event();
    clock.advance(30 * DAY_MS + 1);
    await maintain(mail.project, clock, { deletionClock: UNSTEADY });
    expect(await listed()).toMatchObject([{ id, ...GONE, payload_truncated: false }]);
    expect((await call('GET', `/v1/inbox/events/${id}`)).body).toMatchObject({ id, ...GONE });
    const waited = await call('GET', '/v1/inbox/wait?timeout_seconds=1');
    expect(waited.body).toMatchObject({ event: { id, ...GONE } });
    expect(await claim(id)).toMatchObject({ id, ...GONE, payload_url: null });
  });

  it('is not read from a replica', async () => {
    const id = await routes.event();
    clock.advance(30 * DAY_MS + 1);
    const { url, apiKey, projectId } = mail.gateway;
    const { identity } = await caller(mail.gateway, apiKey);
    const server = {
      version: '0.0.0',
      urls: { api: url, mcp: `${url}/mcp`, hooks: url },
      channels: [],
      telegramBot: null,
      mail: { domain: null, from: null },
    };
    const info = { project: { id: projectId, slug: 's', name: 'S' }, server, schemaVersion: 1 };
    const { store } = mail.project;
    const copy = { info, now: () => clock.now(), store, waits: new Waits(), pace: new Pace() };
    const checked = parseInput(inboxList, {});
    const { signal } = new AbortController();
    const answer = await runLocally(
      { operation: inboxList, checked, caller: identity, signal },
      copy,
    );
    expect(answer).toMatchObject({ items: [{ id, ...GONE }] });
  });

  it('is not shown in the web inbox', async () => {
    const id = await routes.event({ body: '{"word":"unmistakable"}' });
    const visitor = await WebVisitor.withKey(mail.gateway);
    const page = await placeOf(mail.gateway, 'events', id);
    expect((await visitor.get(page)).html).toContain('unmistakable');
    clock.advance(30 * DAY_MS + 1);
    const later = await WebVisitor.withKey(mail.gateway);
    expect((await later.get(page)).html).not.toContain('unmistakable');
  });

  it('is not behind links that were given before, nor are files that came with it', async () => {
    await mail.policy({ effect: 'allow' });
    const read = mailWith(
      { text: 'a'.repeat(300_000) },
      { files: [fileWith('a.txt', 'one')], html: Buffer.from('<p>Two') },
    );
    const id = await arrived(mail, read);
    clock.advance(30 * DAY_MS - 30 * MINUTE_MS);
    const link = await call<{ url: string }>('POST', '/v1/file-urls', { path: `${id}/a.txt` });
    const { html_url: htmlUrl, payload_url: payloadUrl } = await claim(id);
    const links = [link.body.url, htmlUrl ?? '', payloadUrl ?? ''];
    for (const one of links) expect((await fetch(one)).status).toBe(200);
    clock.advance(30 * MINUTE_MS + 1);
    await maintain(mail.project, clock, { deletionClock: UNSTEADY });
    for (const one of links) expect((await fetch(one)).status).toBe(404);
    expect(await file(`${id}/a.txt`)).toMatchObject(refused(404, 'NOT_FOUND'));
    expect((await call('GET', `/v1/files?prefix=${id}/`)).body['items']).toEqual([]);
    const attached = await mail.send({ attachments: [`${id}/a.txt`] });
    expect(attached).toMatchObject(refused(400, 'VALIDATION_FAILED'));
    const event = (await call('GET', `/v1/inbox/events/${id}`)).body;
    expect(event).toMatchObject({ ...GONE, attachments: [], attachments_blocked: [] });
  });

  it('is not pushed again, and the log of its delivery is not shown', async () => {
    receiver.answer(500);
    const { id: routeId } = await routes.add(receiver.url());
    const id = await routes.event();
    let delivery = await routes.attempted(routeId, 1);
    while (delivery.status === 'pending') {
      clock.advance(Date.parse(delivery.next_attempt_at ?? '') - clock.now());
      await maintain(mail.project, clock, { deletionClock: UNSTEADY });
      delivery = await routes.attempted(routeId, delivery.attempts + 1);
    }
    expect(await routes.only()).toMatchObject({ dead: 1 });
    clock.advance(30 * DAY_MS + 1);
    await maintain(mail.project, clock, { deletionClock: UNSTEADY });
    expect(await routes.only()).toMatchObject({ dead: 0 });
    expect(await routes.log(routeId)).toEqual([]);
    expect((await routes.retry(routeId)).body).toMatchObject({ retried: 0 });
    const one = await routes.retry(routeId, delivery.delivery_id);
    expect(one).toMatchObject(refused(409, 'EVENT_NOT_CLAIMABLE'));
    // Its event may be put back for somebody who knows it from elsewhere.
    expect((await call('POST', '/v1/inbox/requeue', { event_id: id })).status).toBe(200);
    expect(await claim(id)).toMatchObject(GONE);
    expect(receiver.got).toHaveLength(6);
  });
});

/** One whose payload is a blob. */
async function largeEvent(gateway: TestGateway): Promise<void> {
  await new Routes(gateway).event({ body: `{"fill":"${'x'.repeat(300_000)}"}` });
}

describe('a daemon that runs for less than an hour at a time', () => {
  const RUN_MS = 59 * MINUTE_MS;
  let folder: ReturnType<typeof temporaryFolder>;
  let clock: FakeClock;
  let passedMs = 0;
  let own: { projectId: string; apiKey: string } | null = null;
  beforeEach(() => {
    folder = temporaryFolder();
    clock = new FakeClock();
    own = null;
  });
  afterEach(() => folder.remove());

  /** Starts it, lets it run, and ends it. */
  async function run(body?: (gateway: TestGateway) => Promise<void>): Promise<void> {
    const deletionClock = new SavedTrustedClock(
      folder.path,
      () => clock.now(),
      () => passedMs,
    );
    const gateway = await TestGateway.start({
      clock,
      deletionClock,
      folder: folder.path,
      ...(own && { projectOf: own }),
    });
    own = { projectId: gateway.projectId, apiKey: gateway.apiKey };
    await body?.(gateway);
    for (let minutes = 0; minutes < RUN_MS; minutes += MINUTE_MS) {
      passedMs += MINUTE_MS;
      clock.advance(MINUTE_MS);
      await maintain(await projectOf(gateway), clock, { deletionClock });
    }
    await gateway.stop({ keepFolder: true });
  }

  /** How often payloads were deleted. */
  async function purges(): Promise<number> {
    let count = 0;
    await run(async (gateway) => {
      const { body } = await gateway.call<{ items: unknown[] }>(
        'GET',
        '/v1/ledger?op=payload.purged',
      );
      count = body.items.length;
    });
    return count;
  }

  it('deletes old payloads in the end', async () => {
    await run(largeEvent);
    clock.advance(30 * DAY_MS);
    await run();
    expect(existsSync(join(folder.path, 'clock.json'))).toBe(true);
    clock.advance(DAY_MS);
    await run();
    expect(await purges()).toBe(1);
  });

  it('deletes nothing for a clock that was months ahead when it started', async () => {
    await run(largeEvent);
    clock.advance(90 * DAY_MS);
    await run(async (gateway) => {
      const { body } = await gateway.call<{ items: Envelope[] }>('GET', '/v1/inbox');
      expect(body.items).toMatchObject([GONE]);
    });
    clock.advance(-89 * DAY_MS);
    await run();
    await run(async (gateway) => {
      const { body } = await gateway.call<{ items: Envelope[] }>('GET', '/v1/inbox');
      expect(body.items).toMatchObject([{ payload_purged: false }]);
    });
    expect(await purges()).toBe(0);
  });
});
