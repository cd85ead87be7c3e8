import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { maintain } from '../../../gateway/projects/maintenance.ts';
import { changed } from '../../helpers/changed.ts';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';

const DAY_MS = 86_400_000;
const json = { 'content-type': 'application/json' };
const large = (name: string): string => JSON.stringify({ name, fill: 'x'.repeat(300 * 1024) });

interface Event {
  readonly id: string;
  readonly payload: unknown;
  readonly payload_url: string | null;
  readonly payload_purged: boolean;
  readonly headers: Record<string, string>;
}

let clock: FakeClock;
let gateway: TestGateway;
let url: string;
beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock });
  url = await gateway.addSource({ name: 'open' });
});
afterEach(() => gateway.stop());

function blobFiles(): string[] {
  const folder = join(gateway.folder, 'projects', gateway.projectId, 'blobs');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((part) => readdirSync(join(folder, part)));
}

async function deliver(body: string, target = url): Promise<string> {
  const answer = await gateway.deliver(target, body, { ...json, 'x-kept': 'yes' });
  expect(answer.body['status']).toBe('accepted');
  return String(answer.body['event_id']);
}

async function claim(event_id: string): Promise<Event> {
  const answer = await gateway.call<Event>('POST', '/v1/inbox/claim', { body: { event_id } });
  expect(answer.status).toBe(200);
  return answer.body;
}

async function maintenance(): Promise<void> {
  const project = await gateway.gateway.projects.find(gateway.projectId);
  if (project) await maintain(project, clock);
}

const listed = async (): Promise<Event[]> => {
  const { body } = await gateway.call<{ items: Event[] }>('GET', '/v1/inbox?status=pending');
  return body.items;
};

describe('a body over 256 KB', () => {
  it('is kept as one file, and given as a link that needs no key', async () => {
    const body = large('one');
    const id = await deliver(body);
    expect(blobFiles()).toHaveLength(1);
    const event = await claim(id);
    expect(event.payload).toBeNull();
    const response = await fetch(event.payload_url ?? '');
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(body);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'content-disposition': `attachment; filename="${id}"`,
    });
  });

  it('of exactly 256 KB is in its row, one byte more is not', async () => {
    const exact = `"${'x'.repeat(256 * 1024 - 2)}"`;
    const inRow = await claim(await deliver(exact));
    expect(inRow.payload_url).toBeNull();
    expect(inRow.payload).toBe(exact.slice(1, -1));
    const apart = await claim(await deliver(`${exact} `));
    expect(apart.payload).toBeNull();
    expect(apart.payload_url).toContain('/l/');
  });

  it('gives a link that ends after an hour', async () => {
    const { payload_url } = await claim(await deliver(large('one')));
    clock.advance(3_599_999);
    expect((await fetch(payload_url ?? '')).status).toBe(200);
    clock.advance(1);
    const late = await fetch(payload_url ?? '');
    expect(late.status).toBe(404);
    expect(await late.json()).toEqual({
      error: { code: 'NOT_FOUND', message: 'Not found.', hint: null },
    });
  });

  it('gives a link of which no part may be changed', async () => {
    const other = await deliver(large('other'));
    const { payload_url } = await claim(await deliver(large('one')));
    const parts = new URL(payload_url ?? '').pathname.split('/').slice(2);
    const [project = '', event = '', expires = '', signature = ''] = parts;
    const tampered = [
      [project, other, expires, signature],
      [project, event, String(Number(expires) + 1), signature],
      [project, event, `${expires}0`, signature],
      [project, event, expires, signature.slice(0, -1)],
      [project, event, expires, changed(signature)],
      [project, event, expires, 'x'],
      ['0'.repeat(16), event, expires, signature],
      ['..', event, expires, signature],
      ['not-a-project', event, expires, signature],
      [project.toUpperCase(), event, expires, signature],
      [project, '%00', expires, signature],
      [project, event, 'never', signature],
    ];
    for (const part of tampered) {
      const response = await fetch(`${gateway.url}/l/${part.join('/')}`);
      expect({ part, status: response.status }).toEqual({ part, status: 404 });
    }
    expect((await fetch(payload_url ?? '', { method: 'POST' })).status).toBe(405);
    expect((await fetch(payload_url ?? '')).status).toBe(200);
  });

  it('that comes again is one file, whoever refers to it', async () => {
    const second = await gateway.addSource({ name: 'second' });
    const body = large('shared');
    await deliver(body);
    clock.advance(DAY_MS);
    await deliver(body, second);
    expect(blobFiles()).toHaveLength(1);
  });
});

describe('a link to a body', () => {
  it('that is missing while its row is there is a failure, not an absence', async () => {
    const { payload_url } = await claim(await deliver(large('one')));
    rmSync(join(gateway.folder, 'projects', gateway.projectId, 'blobs'), { recursive: true });
    const response = await fetch(payload_url ?? '');
    expect(response.status).toBe(500);
  });
});

describe('a payload past its 30 days', () => {
  it('goes, in its row and as a file, and the event says so', async () => {
    const { payload_url } = await claim(await deliver(large('one')));
    const small = await deliver('{"small":true}');
    clock.advance(30 * DAY_MS);
    await maintenance();
    expect(blobFiles()).toHaveLength(1);
    clock.advance(1);
    await maintenance();
    expect(blobFiles()).toEqual([]);
    expect((await fetch(payload_url ?? '')).status).toBe(404);
    const event = (await listed()).find(({ id }) => id === small);
    expect(event).toMatchObject({ payload: null, payload_purged: true, payload_url: null });
    // The envelope stays: what it was, and from whom.
    expect(event?.headers['x-kept']).toBe('yes');
    const claimed = await claim(small);
    expect(claimed).toMatchObject({ payload: null, payload_purged: true, payload_url: null });
    const ledger = await gateway.call<{ items: unknown[] }>('GET', '/v1/ledger?op=payload.purged');
    expect(ledger.body.items).toHaveLength(1);
    const verified = await gateway.call('POST', '/v1/ledger/verify', { body: {} });
    expect(verified.body).toMatchObject({ ok: true });
  });

  it('keeps a file that a younger event still names', async () => {
    const second = await gateway.addSource({ name: 'second' });
    const body = large('shared');
    await deliver(body);
    clock.advance(10 * DAY_MS);
    const younger = await deliver(body, second);
    clock.advance(20 * DAY_MS + 1);
    await maintenance();
    expect(blobFiles()).toHaveLength(1);
    const { payload_url } = await claim(younger);
    expect(await (await fetch(payload_url ?? '')).text()).toBe(body);
    clock.advance(10 * DAY_MS);
    await maintenance();
    expect(blobFiles()).toEqual([]);
  });

  it('goes in portions, however many there are, and nothing young goes with them', async () => {
    const deliveries = Array.from({ length: 230 }, (_, n) => deliver(`{"n":${n}}`));
    await Promise.all(deliveries);
    clock.advance(30 * DAY_MS + 1);
    const young = await deliver('{"young":true}');
    await maintenance();
    const { body } = await gateway.call<{ items: Event[] }>('GET', '/v1/inbox?limit=100');
    expect(body.items.every((event) => event.payload_purged)).toBe(true);
    expect((await claim(young)).payload).toEqual({ young: true });
  });

  it('is found after a restart', async () => {
    await deliver(large('one'));
    const { folder, projectId } = gateway;
    await gateway.stop({ keepFolder: true });
    clock.advance(31 * DAY_MS);
    const again = await TestGateway.start({ clock, folder });
    const folderOfBlobs = join(folder, 'projects', projectId, 'blobs');
    await expect
      .poll(() =>
        readdirSync(folderOfBlobs).flatMap((part) => readdirSync(join(folderOfBlobs, part))),
      )
      .toEqual([]);
    await again.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is in no file of the database any more', async () => {
    const secret = 'a-payload-that-must-go';
    await deliver(JSON.stringify({ secret }));
    const file = join(gateway.folder, 'projects', gateway.projectId, 'project.db');
    const inFiles = (): boolean =>
      [file, `${file}-wal`].some((path) => existsSync(path) && readFileSync(path).includes(secret));
    expect(inFiles()).toBe(true);
    clock.advance(30 * DAY_MS + 1);
    await maintenance();
    expect(inFiles()).toBe(false);
  });
});
