import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { caughtUp, collectingLog, until, untilState } from './open-replica.ts';
import { Stage, valueOf } from './stage.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await Stage.open();
});

afterEach(() => stage.end());

describe('a first copy', () => {
  it('has what the gateway has, and then what is written there', async () => {
    await stage.write('before');
    const replica = stage.replica();
    expect(replica.status).toMatchObject({ state: 'connecting', position: null, ageMs: null });
    expect(replica.freshness()).toEqual({ usable: 'no', ageMs: Infinity });
    const position = await stage.write('after');
    await caughtUp(replica, position);
    expect(await valueOf(replica, 'before')).toBe('"before"');
    expect(await valueOf(replica, 'after')).toBe('"after"');
    expect(replica.freshness()).toMatchObject({ usable: 'live' });
    expect(replica.status).toMatchObject({ state: 'live', behind: 0, detail: null, copied: null });
  });

  it('tells how far it is, in bytes', async () => {
    const replica = stage.replica();
    const seen: (number | undefined)[] = [];
    replica.onChange(() => seen.push(replica.status.copied?.total));
    await untilState(replica, 'live');
    const sizes = seen.filter((total) => total !== undefined);
    expect(sizes.length).toBeGreaterThan(0);
    expect(sizes.every((total) => total > 0 && total % 4096 === 0)).toBe(true);
  });

  it('is for this user alone, and names no key', async () => {
    await caughtUp(stage.replica(), await stage.write('a'));
    const path = stage.replicaFolder;
    expect(statSync(path).mode & 0o777).toBe(0o700);
    const modes = readdirSync(path).map((name) => statSync(join(path, name)).mode & 0o777);
    expect(modes.every((mode) => mode === 0o600)).toBe(true);
    const record = readFileSync(join(path, 'replica.json'), 'utf8');
    expect(record).toContain(stage.projectId);
    expect(record).not.toContain(stage.apiKey);
  });

  it('knows what the gateway says of itself, and its time', async () => {
    const replica = stage.replica({ clock: { now: () => Date.now() - 3_600_000 } });
    expect(replica.info).toBeNull();
    await untilState(replica, 'live');
    expect(replica.info?.project.id).toBe(stage.projectId);
    expect(replica.info?.server.urls).toEqual({
      api: stage.gateway.url,
      mcp: `${stage.gateway.url}/mcp`,
      hooks: stage.gateway.url,
    });
    // By its own clock it's an hour earlier.
    expect(replica.now()).toBeGreaterThan(Date.now() - 1_800_000);
  });
});

describe('what was written', () => {
  it('is there when its position is reached', async () => {
    const replica = stage.replica();
    await untilState(replica, 'live');
    for (let n = 0; n < 20; n += 1) {
      replica.noteWritten(await stage.write('counter', n));
      expect(await replica.settled(10_000)).toBe(true);
      expect(await valueOf(replica, 'counter')).toBe(String(n));
    }
  });

  it('is waited for as long as asked, and not longer', async () => {
    const replica = stage.replica();
    await untilState(replica, 'live');
    expect(await replica.reached((replica.status.position ?? 0) + 1000, 30)).toBe(false);
  });

  it('is there after an answer that was lost', async () => {
    const replica = stage.replica();
    await untilState(replica, 'live');
    stage.door.trouble = (path) => (path.includes('/sync/') ? 503 : null);
    await stage.write('lost');
    replica.noteWritten(null);
    expect(await replica.settled(50)).toBe(false);
    stage.door.trouble = () => null;
    expect(await replica.settled(20_000)).toBe(true);
    expect(await valueOf(replica, 'lost')).toBe('"lost"');
  });

  it('is not known while the gateway cannot be asked how far it is', async () => {
    const replica = stage.replica();
    await untilState(replica, 'live');
    await stage.door.shut();
    replica.noteWritten(null);
    expect(await replica.settled(50)).toBe(false);
    await stage.door.reopen();
    await untilState(replica, 'live');
    expect(await replica.settled(20_000)).toBe(true);
  });
});

describe('a wait', () => {
  it('wakes when the copy has the event, not before', async () => {
    const hook = await stage.gateway.addSource({ name: 'shop' });
    const replica = stage.replica();
    await untilState(replica, 'live');
    const waiting = replica.waits.wait({
      keyId: 'key_1',
      counted: true,
      concerns: (change) => change.kind === 'event' && change.source === 'shop',
      check: async () => {
        const found = await replica.store?.read(({ events }) =>
          events.page({ status: 'pending', afterSeq: 0, limit: 1, now: Date.now() }),
        );
        return found?.[0] ?? null;
      },
      timeoutMs: 20_000,
      signal: new AbortController().signal,
    });
    await stage.gateway.deliver(hook, '{"type":"order"}', { 'content-type': 'application/json' });
    expect((await waiting)?.source).toBe('shop');
  });

  it('looks again after the stream was cut: nobody knows what was missed', async () => {
    const replica = stage.replica();
    await untilState(replica, 'live');
    let looks = 0;
    const ending = new AbortController();
    const waiting = replica.waits.wait({
      keyId: 'key_1',
      counted: false,
      concerns: () => false,
      check: () => {
        looks += 1;
        return Promise.resolve(null);
      },
      timeoutMs: 20_000,
      signal: ending.signal,
    });
    stage.door.cut();
    await until(
      () => looks,
      (count) => count > 1,
    );
    ending.abort();
    await expect(waiting).rejects.toThrow('The caller has gone.');
  });
});

describe('generations', () => {
  it('are followed while the copy is read all the time', async () => {
    const replica = stage.replica();
    await untilState(replica, 'live');
    const ending = new AbortController();
    const failures: unknown[] = [];
    const reading = (async () => {
      while (!ending.signal.aborted) {
        await valueOf(replica, 'n').catch((error: unknown) => failures.push(error));
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    for (let n = 0; n < 12; n += 1) {
      await stage.write(`n`, n);
      await stage.rotate();
      await caughtUp(replica, await stage.write('m', n));
    }
    ending.abort();
    await reading;
    expect(failures).toEqual([]);
    expect(await valueOf(replica, 'n')).toBe('11');
    expect(stage.copies).toBe(1);
    const info = readFileSync(`${stage.databasePath}-info`, 'utf8');
    expect(Number(JSON.parse(info).generation)).toBeGreaterThan(6);
  });
});

describe('a start', () => {
  it('goes on with the copy of the last one', async () => {
    const first = stage.replica();
    await caughtUp(first, await stage.write('a'));
    await stage.close(first);
    const position = await stage.write('b');
    await stage.rotate();
    const { log, lines } = collectingLog();
    const second = stage.replica({ log });
    await caughtUp(second, position);
    expect(await valueOf(second, 'b')).toBe('"b"');
    expect(lines).toEqual([]);
    expect(stage.copies).toBe(1);
  });

  it('copies anew from another gateway', async () => {
    const first = stage.replica();
    await caughtUp(first, await stage.write('a'));
    await stage.close(first);
    const { log, lines } = collectingLog();
    const second = stage.replica({ log, gateway: new URL(stage.gateway.url) });
    await untilState(second, 'live');
    expect(lines.map(({ msg }) => msg)).toEqual([
      'replica: removed',
      'replica: copying the database',
    ]);
  });
});
