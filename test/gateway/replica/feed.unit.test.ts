import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Feed, type Follower } from '../../../gateway/projects/feed.ts';
import type { ErrorCode } from '../../../shared/lib/errors.ts';
import type { ReplicationPosition } from '../../../shared/store/engine/driver.ts';
import { FakeClock } from '../../helpers/gateway.ts';

const TIME = '2026-01-02T03:04:05.000Z';

/** A follower that remembers what it is told. */
class Listener implements Follower {
  readonly keyId = 'key_a';
  readonly expiresAt: string | null;
  readonly heard: [name: string, data: Record<string, unknown>][] = [];
  code: ErrorCode | null = null;
  ended = false;

  constructor(expiresAt: string | null = null) {
    this.expiresAt = expiresAt;
  }

  refusal = async (): Promise<ErrorCode | null> => this.code;

  send = (text: string): void => {
    if (this.ended) throw new Error('It was told more after the end.');
    const [, name = '', data = ''] = /^event: (\w+)\ndata: (.*)\n\n$/.exec(text) ?? [];
    this.heard.push([name, JSON.parse(data) as Record<string, unknown>]);
  };

  end = (text: string): void => {
    this.send(text);
    this.ended = true;
  };

  get last(): unknown {
    return this.heard.at(-1);
  }

  get names(): string[] {
    return this.heard.map(([name]) => name);
  }
}

let clock: FakeClock;
let replication: ReplicationPosition;
let feed: Feed;
/** Followers that are counted. */
let held: number;

beforeEach(() => {
  vi.useFakeTimers();
  clock = new FakeClock();
  held = 0;
  replication = at(7);
  feed = new Feed(() => replication, clock, {
    hold: () => () => (held -= 1),
    onJoined: () => (held += 1),
  });
});
afterEach(() => {
  vi.useRealTimers();
});

function at(position: number, epoch = 'one'): ReplicationPosition {
  return { position, log: { epoch, generation: 3, frames: position * 2, salts: '00' } };
}

/** What the writer tells of a transaction. */
function commit(...rest: Parameters<Feed['note']>[0][]): void {
  replication = { ...replication, position: replication.position + 1 };
  for (const effect of [{ kind: 'committed', replication } as const, ...rest]) feed.note(effect);
}

function joined(expiresAt: string | null = null): Listener {
  const listener = new Listener(expiresAt);
  feed.join(listener);
  return listener;
}

const settled = (ms = 10): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

describe('a feed', () => {
  it('begins with the place', () => {
    expect(joined().heard).toEqual([
      ['place', { epoch: 'one', generation: 3, position: 7, time: TIME }],
    ]);
  });

  it('tells the commits of one turn as one change, each thing once', async () => {
    const listener = joined();
    commit({ kind: 'event_ready', source: 'shop', type: 'paid' });
    commit({ kind: 'event_ready', source: 'shop', type: 'paid' });
    commit({ kind: 'request_ended', id: 'req_1' }, { kind: 'notices_due' });
    commit({ kind: 'disk_changed' }, { kind: 'inbox_changed' });
    commit({ kind: 'disk_changed' });
    await settled();
    expect(listener.heard.slice(1)).toEqual([
      [
        'change',
        {
          position: 12,
          time: TIME,
          changes: [
            { kind: 'event', source: 'shop', type: 'paid' },
            { kind: 'request', id: 'req_1' },
            { kind: 'disk' },
            { kind: 'inbox' },
          ],
        },
      ],
    ]);
  });

  it('tells a commit that nobody waits for as well, and none twice', async () => {
    const listener = joined();
    commit();
    await settled();
    feed.note({ kind: 'committed', replication });
    await settled();
    expect(listener.heard.slice(1)).toEqual([['change', { position: 8, time: TIME, changes: [] }]]);
  });

  it('draws breath under load', async () => {
    const listener = joined();
    for (let ms = 0; ms < 100; ms += 1) {
      commit();
      await settled(1);
    }
    await settled();
    expect(listener.last).toEqual(['change', { position: 107, time: TIME, changes: [] }]);
    expect(listener.heard.length).toBeGreaterThan(10);
    expect(listener.heard.length).toBeLessThan(30);
  });

  it.each([
    [50, { changes: expect.any(Array) as unknown }],
    [51, { changes: [], all: true }],
    [5000, { changes: [], all: true }],
  ])('names up to 50 things: %i', async (count, told) => {
    const listener = joined();
    for (let n = 0; n < count; n += 1) commit({ kind: 'request_ended', id: `req_${n}` });
    await settled();
    expect(listener.last).toEqual(['change', { position: 7 + count, time: TIME, ...told }]);
    commit({ kind: 'request_ended', id: 'req_next' });
    await settled();
    const changes = [{ kind: 'request', id: 'req_next' }];
    expect(listener.last).toMatchObject(['change', { changes }]);
  });

  it('tells the place again when the epoch changes, before the change', async () => {
    const listener = joined();
    replication = at(7, 'two');
    commit();
    await settled();
    expect(listener.heard.slice(1)).toEqual([
      ['place', { epoch: 'two', generation: 3, position: 8, time: TIME }],
      ['change', { position: 8, time: TIME, changes: [] }],
    ]);
  });

  it('tells a new epoch without a commit', async () => {
    const listener = joined();
    replication = at(7, 'two');
    feed.note({ kind: 'committed', replication });
    await settled();
    expect(listener.names).toEqual(['place', 'place']);
  });

  it('goes on while the log is not kept', async () => {
    const listener = joined();
    replication = { position: 7, log: null };
    commit();
    await settled();
    expect(listener.names).toEqual(['place', 'change']);
    expect(() => joined()).toThrow(expect.objectContaining({ code: 'UNAVAILABLE' }));
  });

  it('tells the time every 15 seconds, however much else there is', async () => {
    const listener = joined();
    for (let second = 0; second < 31; second += 1) {
      clock.advance(1000);
      commit();
      await settled(1000);
    }
    const times = listener.heard.filter(([name]) => name === 'time');
    expect(times).toHaveLength(2);
    expect(times[0]?.[1]).toEqual({ time: '2026-01-02T03:04:20.000Z', position: 22 });
  });

  it('runs no timer while nobody listens', async () => {
    const first = joined();
    const leave = feed.join(new Listener());
    leave();
    expect(vi.getTimerCount()).toBe(1);
    first.code = 'KEY_REVOKED';
    feed.note({ kind: 'key_ended', keyId: 'key_1' });
    await settled();
    expect(feed.size).toBe(0);
    leave();
    commit({ kind: 'event_ready', source: 'a', type: 'b' });
    expect(vi.getTimerCount()).toBe(0);
    // What nobody heard is not told to the next.
    const next = joined();
    await settled();
    expect(next.names).toEqual(['place']);
  });

  it('counts each follower, and takes none that is refused', () => {
    const refused = new Feed(() => replication, clock, {
      hold: () => {
        throw new Error('too many');
      },
      onJoined: () => undefined,
    });
    expect(() => refused.join(new Listener())).toThrow('too many');
    expect(refused.size).toBe(0);
    const leave = feed.join(new Listener());
    joined();
    expect(held).toBe(2);
    leave();
    leave();
    expect(held).toBe(1);
    feed.close();
    expect(held).toBe(0);
  });

  it('ends all when it is closed, and takes nobody after', () => {
    const all = [joined(), joined()];
    feed.close();
    for (const { last, ended } of all) {
      expect(last).toEqual(['end', { code: 'UNAVAILABLE' }]);
      expect(ended).toBe(true);
    }
    expect(feed.size).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
    expect(() => joined()).toThrow(expect.objectContaining({ code: 'UNAVAILABLE' }));
  });
});

describe('the keys of followers', () => {
  it.each(['key_ended', 'keys_changed'] as const)('are looked at after %s', async (kind) => {
    const [revoked, other] = [joined(), joined()];
    revoked.code = 'KEY_REVOKED';
    feed.note(kind === 'key_ended' ? { kind, keyId: 'key_1' } : { kind });
    await settled();
    expect(revoked.last).toEqual(['end', { code: 'KEY_REVOKED' }]);
    expect([other.ended, feed.size]).toEqual([false, 1]);
  });

  it('hold what is told until they were looked at', async () => {
    const [revoked, other] = [joined(), joined()];
    const asked: ((code: ErrorCode) => void)[] = [];
    revoked.refusal = () => new Promise((resolve) => asked.push(resolve));
    feed.note({ kind: 'key_ended', keyId: 'key_1' });
    commit({ kind: 'event_ready', source: 'secret', type: 'plan' });
    await settled(1000);
    expect([revoked.names, other.names]).toEqual([['place'], ['place']]);
    for (const answer of asked) answer('KEY_REVOKED');
    await settled();
    expect(revoked.names).toEqual(['place', 'end']);
    expect(other.names).toEqual(['place', 'change']);
  });

  it('are looked at once more at the beginning', async () => {
    const listener = new Listener();
    listener.code = 'KEY_REVOKED';
    feed.join(listener);
    await settled();
    expect(listener.names).toEqual(['place', 'end']);
  });

  it('end at their time, before anything is told after it', async () => {
    const [short, long] = [joined('2026-01-02T03:04:06.000Z'), joined('2026-01-02T04:00:00.000Z')];
    commit();
    await settled();
    clock.advance(1000);
    commit();
    await settled();
    expect(short.names).toEqual(['place', 'change', 'end']);
    expect(short.last).toEqual(['end', { code: 'UNAUTHENTICATED' }]);
    expect(long.names).toEqual(['place', 'change', 'change']);
  });

  it('end within 15 seconds where nothing happens', async () => {
    const short = joined('2026-01-02T03:04:06.000Z');
    const rotated = joined();
    rotated.code = 'UNAUTHENTICATED';
    clock.advance(15_000);
    await settled(15_000);
    expect(short.last).toEqual(['end', { code: 'UNAUTHENTICATED' }]);
    expect(rotated.last).toEqual(['end', { code: 'UNAUTHENTICATED' }]);
  });
});
