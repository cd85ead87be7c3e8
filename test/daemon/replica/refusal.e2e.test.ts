import { existsSync, readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../helpers/gateway.ts';
import { caughtUp, collectingLog, until, untilState } from './open-replica.ts';
import { Stage, valueOf } from './stage.ts';

const HOUR_MS = 3_600_000;
const NEEDED = ['inbox:read', 'approvals', 'disk', 'ledger:read'];

let stage: Stage;

beforeEach(async () => {
  stage = await Stage.open();
});

afterEach(() => stage.end());

describe('a key', () => {
  it('that is revoked ends the copy: reads stop, and the files go', async () => {
    const answer = await stage.gateway.call<{ id: string; api_key: string }>('POST', '/v1/keys', {
      body: { name: 'laptop', scopes: NEEDED },
    });
    const { log, lines } = collectingLog();
    const replica = stage.replica({ apiKey: answer.body.api_key, log });
    await caughtUp(replica, await stage.write('a'));
    expect(existsSync(stage.databasePath)).toBe(true);
    await stage.gateway.call('DELETE', `/v1/keys/${answer.body.id}`);
    const status = await untilState(replica, 'refused');
    expect(status).toMatchObject({ code: 'KEY_REVOKED', position: null, epoch: null });
    expect(replica.store).toBeNull();
    expect(replica.freshness().usable).toBe('no');
    const refusals = lines.filter(({ msg }) => String(msg).includes('refuses the key'));
    expect(refusals).toMatchObject([{ level: 40, code: 'KEY_REVOKED' }]);
    expect(JSON.stringify(lines)).not.toContain(answer.body.api_key);
    const left = readdirSync(stage.replicaFolder).filter((name) => name.startsWith('replica'));
    expect(left).toEqual([]);
  });

  it('that lacks a scope gets no copy, and is told which', async () => {
    const apiKey = await stage.gateway.key('inbox:read', 'disk');
    const replica = stage.replica({ apiKey });
    const status = await untilState(replica, 'refused');
    expect(status.code).toBe('SCOPE_MISSING');
    expect(status.detail).toContain('403');
    expect(stage.copies).toBe(0);
  });

  it('that is limited to prefixes of the disk gets no copy, and is told why', async () => {
    const scopes = [...NEEDED];
    const made = await stage.gateway.call<{ api_key: string }>('POST', '/v1/keys', {
      body: { name: 'limited', scopes, disk_prefixes: ['team-a/'] },
    });
    const replica = stage.replica({ apiKey: made.body.api_key });
    const status = await untilState(replica, 'none');
    expect(status).toMatchObject({ code: 'SCOPE_MISSING', position: null });
    expect(status.detail).toBe(
      'This key is limited to prefixes of the disk; a replica is the whole project.',
    );
    expect(stage.copies).toBe(0);
  });

  it('that is refused on the way but not by the first question is no reason to remove the copy', async () => {
    const replica = stage.replica();
    await caughtUp(replica, await stage.write('a'));
    stage.door.trouble = (path) => (path.includes('/sync/') ? 401 : null);
    const position = await stage.write('b');
    await until(
      () => stage.door.asked.filter((path) => path.endsWith('/v1/replica')).length,
      (count) => count > 2,
    );
    expect(existsSync(stage.databasePath)).toBe(true);
    stage.door.trouble = () => null;
    await caughtUp(replica, position);
    expect(stage.copies).toBe(1);
  });
});

describe('a gateway that is gone', () => {
  it('leaves a copy that answers, marked stale, and is found again', async () => {
    const { log, lines } = collectingLog();
    const replica = stage.replica({ log });
    await caughtUp(replica, await stage.write('a'));
    await stage.door.shut();
    const { offlineSince, detail } = await untilState(replica, 'offline');
    expect(offlineSince).toBeGreaterThan(0);
    expect(detail).toContain('ECONNREFUSED');
    expect(replica.freshness().usable).toBe('stale');
    expect(await valueOf(replica, 'a')).toBe('"a"');
    await stage.door.reopen();
    await caughtUp(replica, await stage.write('b'));
    expect(replica.status.offlineSince).toBeNull();
    // One line each, however often it was tried.
    const contact = lines.filter(({ msg }) => String(msg).includes('the gateway'));
    expect(contact).toMatchObject([
      { level: 40, msg: 'replica: lost the gateway', gateway: stage.door.url },
      { level: 30, msg: 'replica: the gateway is back', gateway: stage.door.url },
    ]);
  });

  it('is found again at once when it answers anything that was passed on to it', async () => {
    const hour = { firstMs: HOUR_MS, maxMs: HOUR_MS };
    await stage.door.shut();
    const patient = stage.replica({ timing: { connect: hour } });
    await untilState(patient, 'offline');
    await stage.door.reopen();
    patient.contact.noteAnswer(null);
    expect(patient.freshness().usable).not.toBe('stale');
    await caughtUp(patient, await stage.write('b'));
  });

  it('may be gone at the start: what is there answers, for a day', async () => {
    const first = stage.replica();
    await caughtUp(first, await stage.write('a'));
    await stage.close(first);
    await stage.door.shut();
    const clock = new FakeClock(Date.now());
    clock.advance(HOUR_MS);
    const second = stage.replica({ clock });
    await untilState(second, 'offline');
    expect(second.freshness()).toMatchObject({ usable: 'stale' });
    expect(second.freshness().ageMs).toBeGreaterThanOrEqual(HOUR_MS - 60_000);
    expect(second.info?.project.id).toBe(stage.projectId);
    expect(await valueOf(second, 'a')).toBe('"a"');
    clock.advance(23.5 * HOUR_MS);
    expect(second.freshness()).toMatchObject({ usable: 'no' });
  });

  it('for a week takes the copy with it', async () => {
    const first = stage.replica();
    await caughtUp(first, await stage.write('a'));
    await stage.close(first);
    await stage.door.shut();
    const { log, lines } = collectingLog();
    const clock = new FakeClock(Date.now() + 7 * 24 * HOUR_MS + 60_000);
    const second = stage.replica({ clock, log });
    await untilState(second, 'offline');
    expect(second.store).toBeNull();
    expect(existsSync(stage.databasePath)).toBe(false);
    expect(lines[0]).toMatchObject({ reason: "It hasn't been updated for a week." });
  });

  it('is told from one that does not want to', async () => {
    const replica = stage.replica();
    await caughtUp(replica, await stage.write('a'));
    stage.door.trouble = (path) => (path.startsWith('/v1/replica') ? 503 : null);
    stage.door.cut();
    const { detail } = await until(
      () => replica.status,
      (status) => status.detail?.includes('503') === true,
    );
    expect(detail).toBe('The gateway answered 503: Trouble.');
    expect(replica.freshness().usable).not.toBe('stale');
  });

  it('has its stream opened again where that may be dead: another call got no answer, then one did', async () => {
    const replica = stage.replica();
    await caughtUp(replica, await stage.write('a'));
    const streams = () => stage.door.asked.filter((path) => path.endsWith('/changes')).length;
    const before = streams();
    replica.contact.noteAnswer(null);
    replica.contact.noteSilence();
    expect(streams()).toBe(before);
    replica.contact.noteAnswer(null);
    await until(streams, (count) => count > before);
    await caughtUp(replica, await stage.write('b'));
    expect(await valueOf(replica, 'b')).toBe('"b"');
  });

  it('is told from one that says nothing any more', async () => {
    const replica = stage.replica({ timing: { silenceMs: 1000 } });
    await caughtUp(replica, await stage.write('a'));
    const asked = stage.door.asked.length;
    // The next keep-alive of the gateway comes later than this replica is patient.
    await until(
      () => stage.door.asked.slice(asked).filter((path) => path.endsWith('/changes')).length,
      (count) => count > 0,
    );
    await caughtUp(replica, await stage.write('b'));
    expect(await valueOf(replica, 'b')).toBe('"b"');
  });
});

/** As a gateway of a later release would answer. */
function later(body: string): string {
  return body.replace(/"schema_version":\d+/, '"schema_version":99');
}

describe('a schema', () => {
  it('of the gateway that is newer is said to be, and nothing is copied', async () => {
    stage.door.rewrite = later;
    const replica = stage.replica();
    const { detail } = await untilState(replica, 'unsupported');
    expect(detail).toMatch(/^The gateway uses schema 99, this release \d+: update svc here\.$/);
    expect(stage.copies).toBe(0);
    stage.door.rewrite = (body) => body;
    await untilState(replica, 'live');
    expect(replica.status.detail).toBeNull();
  });

  it('of the gateway that was updated: the copy answers when there is nothing else', async () => {
    const replica = stage.replica();
    await caughtUp(replica, await stage.write('a'));
    stage.door.rewrite = later;
    stage.door.cut();
    await untilState(replica, 'unsupported');
    expect(await valueOf(replica, 'a')).toBe('"a"');
    await stage.door.shut();
    await untilState(replica, 'offline');
    await until(
      () => replica.freshness().usable,
      (usable) => usable === 'stale',
    );
  });
});
