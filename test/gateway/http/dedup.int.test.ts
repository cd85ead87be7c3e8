import { createHmac } from 'node:crypto';
import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const json = { 'content-type': 'application/json' };

let clock: FakeClock;
let gateway: TestGateway;
let github: string;
let open: string;
beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock });
  github = await gateway.addSource({ name: 'github', verification: 'github', secret: 's' });
  open = await gateway.addSource({ name: 'open' });
});
afterEach(() => gateway.stop());

function fromGithub(body: string, delivery: string) {
  return gateway.deliver(github, body, {
    ...json,
    'x-github-event': 'push',
    'x-github-delivery': delivery,
    'x-hub-signature-256': `sha256=${createHmac('sha256', 's').update(body).digest('hex')}`,
  });
}

interface Listed {
  readonly id: string;
  readonly suspected_replay: boolean;
}

async function listed(source = 'open'): Promise<Listed[]> {
  const path = `/v1/inbox?source=${source}&limit=100`;
  const { body } = await gateway.call<{ items: Listed[] }>('GET', path);
  return body.items;
}

describe('a delivery that comes again', () => {
  it.each(['with an id', 'without an id'])('64 times at once %s makes one event', async (how) => {
    const headers = how === 'with an id' ? { ...json, 'webhook-id': 'msg_1' } : json;
    const answers = await Promise.all(
      Array.from({ length: 64 }, () => gateway.deliver(open, '{"n":1}', headers)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 64 }, () => 200));
    const accepted = answers.filter(({ body }) => body['status'] === 'accepted');
    expect(accepted).toHaveLength(1);
    const duplicates = answers.filter(({ body }) => body['status'] === 'duplicate');
    expect(duplicates).toHaveLength(63);
    expect(new Set(answers.map(({ body }) => body['event_id'])).size).toBe(1);
    expect(await listed()).toHaveLength(1);
    const ledger = await gateway.call<{ items: unknown[] }>('GET', '/v1/ledger?op=event.received');
    expect(ledger.body.items).toHaveLength(1);
  });

  it('with its id is known for 30 days', async () => {
    const first = await fromGithub('{"n":1}', 'd-1');
    clock.advance(30 * DAY_MS);
    const again = await fromGithub('{"n":2}', 'd-1');
    expect(again.body).toEqual({ status: 'duplicate', event_id: first.body['event_id'] });
    clock.advance(1);
    const later = await fromGithub('{"n":1}', 'd-1');
    expect(later.body['status']).toBe('accepted');
    expect(later.body['event_id']).not.toBe(first.body['event_id']);
  });

  it('without an id is known by its bytes for 24 hours', async () => {
    const first = await gateway.deliver(open, '{"n":1}', json);
    clock.advance(DAY_MS);
    const again = await gateway.deliver(open, '{"n":1}', json);
    expect(again.body).toEqual({ status: 'duplicate', event_id: first.body['event_id'] });
    const other = await gateway.deliver(open, '{"n": 1}', json);
    expect(other.body['status']).toBe('accepted');
    clock.advance(1);
    const later = await gateway.deliver(open, '{"n":1}', json);
    expect(later.body['status']).toBe('accepted');
  });

  it('is still known after the event was finished, and after a restart', async () => {
    const first = await fromGithub('{"n":1}', 'd-1');
    const event_id = first.body['event_id'];
    await gateway.call('POST', '/v1/inbox/claim', { body: { event_id } });
    await gateway.call('POST', '/v1/inbox/ack', { body: { event_id } });
    expect((await fromGithub('{"n":1}', 'd-1')).body).toEqual({ status: 'duplicate', event_id });
  });

  it('is the same for one source only', async () => {
    const second = await gateway.addSource({ name: 'second' });
    const headers = { ...json, 'webhook-id': 'msg_1' };
    const ids = new Set<unknown>();
    for (const url of [open, second]) {
      const answer = await gateway.deliver(url, '{"n":1}', headers);
      expect(answer.body['status']).toBe('accepted');
      ids.add(answer.body['event_id']);
    }
    expect(ids.size).toBe(2);
    expect(await listed()).toHaveLength(1);
    expect(await listed('second')).toHaveLength(1);
  });

  it('is not the same for a source that was removed and added again', async () => {
    await gateway.deliver(open, '{"n":1}', json);
    await gateway.call('DELETE', '/v1/sources/open');
    const added = await gateway.addSource({ name: 'open' });
    expect(added).not.toBe(open);
    const answer = await gateway.deliver(added, '{"n":1}', json);
    expect(answer.body['status']).toBe('accepted');
  });
});

describe('a known body under a new id', () => {
  it('is taken, and marked as a suspected replay', async () => {
    await fromGithub('{"n":1}', 'd-1');
    await fromGithub('{"n":1}', 'd-2');
    await fromGithub('{"n":2}', 'd-3');
    const events = await listed('github');
    expect(events.map((event) => event.suspected_replay)).toEqual([false, true, false]);
  });

  it('is known after a restart', async () => {
    await fromGithub('{"n":1}', 'd-1');
    const { apiKey: key, folder } = gateway;
    await gateway.stop({ keepFolder: true });
    const again = await TestGateway.start({ clock, folder });
    github = github.replace(gateway.url, again.url);
    gateway = again;
    await fromGithub('{"n":1}', 'd-2');
    const { body } = await gateway.call<{ items: Listed[] }>('GET', '/v1/inbox', { key });
    expect(body.items.map((event) => event.suspected_replay)).toEqual([false, true]);
    rmSync(folder, { recursive: true, force: true });
  });

  it('is a duplicate when it comes without an id', async () => {
    await gateway.deliver(open, '{"n":1}', { ...json, 'webhook-id': 'a' });
    const answer = await gateway.deliver(open, '{"n":1}', json);
    expect(answer.body['status']).toBe('duplicate');
  });

  it('is not suspected after 24 hours', async () => {
    await fromGithub('{"n":1}', 'd-1');
    clock.advance(DAY_MS + 1);
    await fromGithub('{"n":1}', 'd-2');
    const events = await listed('github');
    expect(events.map((event) => event.suspected_replay)).toEqual([false, false]);
  });
});

describe('the order of arrival', () => {
  it('holds when the clock goes back', async () => {
    await gateway.deliver(open, '{"n":1}', json);
    clock.advance(-HOUR_MS);
    await gateway.deliver(open, '{"n":2}', json);
    const { body } = await gateway.call<{ items: { received_at: string }[] }>('GET', '/v1/inbox');
    const times = body.items.map((event) => event.received_at);
    expect(times).toHaveLength(2);
    expect(times[1]).toBe(times[0]);
  });
});
