import { beforeEach, describe, expect, it } from 'vitest';
import { FreshnessJudge } from '../../../daemon/replica/serve/freshness.ts';
import { FakeClock } from '../../helpers/gateway.ts';

let clock: FakeClock;
let judge: FreshnessJudge;

beforeEach(() => {
  clock = new FakeClock();
  judge = new FreshnessJudge(clock);
});

function live(position = 10): void {
  judge.has(position);
  judge.contacted(position);
}

describe('a copy', () => {
  it('that never had everything is of no use', () => {
    expect(judge.judge()).toEqual({ usable: 'no', ageMs: Infinity });
    judge.has(5);
    judge.contacted(7);
    expect(judge.judge().usable).toBe('no');
    judge.has(7);
    expect(judge.judge()).toEqual({ usable: 'live', ageMs: 0 });
  });

  it('is live for as long as the stream speaks', () => {
    live();
    clock.advance(15_000);
    expect(judge.judge()).toEqual({ usable: 'live', ageMs: 15_000 });
    judge.contacted(10);
    expect(judge.judge().ageMs).toBe(0);
    clock.advance(20_000);
    expect(judge.judge().usable).toBe('live');
    clock.advance(1);
    expect(judge.judge().usable).toBe('no');
  });

  it('stays live for 5 s after the stream ended', () => {
    live();
    judge.streamEnded();
    clock.advance(5000);
    expect(judge.judge().usable).toBe('live');
    clock.advance(1);
    expect(judge.judge().usable).toBe('no');
    judge.streamEnded();
    expect(judge.judge().usable).toBe('no');
  });

  it('stays live for 5 s while it lacks what the stream has told', () => {
    live(10);
    clock.advance(100);
    judge.contacted(11);
    clock.advance(5000);
    expect(judge.judge()).toEqual({ usable: 'live', ageMs: 5100 });
    clock.advance(1);
    judge.contacted(12);
    expect(judge.judge().usable).toBe('no');
    judge.has(11);
    expect(judge.judge().usable).toBe('live');
    judge.has(12);
    expect(judge.judge().ageMs).toBe(0);
  });

  it('that is always a little behind stays live', () => {
    live(0);
    for (let position = 1; position < 2000; position += 1) {
      clock.advance(20);
      judge.contacted(position);
      judge.has(position - 1);
      expect(judge.judge().usable).toBe('live');
    }
  });

  it('that lacks more than is remembered apart is late until it has the last of it', () => {
    live(0);
    for (let position = 1; position <= 3000; position += 1) {
      clock.advance(60);
      judge.contacted(position);
    }
    expect(judge.judge().usable).toBe('no');
    judge.has(2999);
    expect(judge.judge().usable).toBe('no');
    judge.has(3000);
    expect(judge.judge()).toEqual({ usable: 'live', ageMs: 0 });
    clock.advance(60);
    judge.contacted(3001);
    expect(judge.judge().usable).toBe('live');
  });

  it('is as old as what it had last, not as what it hears', () => {
    live(10);
    clock.advance(1000);
    judge.contacted(11);
    clock.advance(3000);
    judge.has(11);
    // Complete when that was heard; what has happened since is not known.
    expect(judge.judge().ageMs).toBe(3000);
  });

  it('is stale while the gateway is out of reach, for a day', () => {
    live();
    judge.streamEnded();
    clock.advance(10_000);
    expect(judge.judge()).toEqual({ usable: 'no', ageMs: 10_000 });
    judge.reachable(false);
    expect(judge.judge()).toEqual({ usable: 'stale', ageMs: 10_000 });
    clock.advance(24 * 3_600_000 - 10_000);
    expect(judge.judge().usable).toBe('stale');
    clock.advance(1);
    expect(judge.judge().usable).toBe('no');
  });

  it('is stale as soon as the gateway is known to be out of reach, and not live again before the stream is', () => {
    live();
    judge.streamEnded();
    expect(judge.judge()).toEqual({ usable: 'live', ageMs: 0 });
    judge.reachable(false);
    expect(judge.judge()).toEqual({ usable: 'stale', ageMs: 0 });
    judge.reachable(true);
    expect(judge.judge()).toEqual({ usable: 'no', ageMs: 0 });
    judge.contacted(10);
    expect(judge.judge()).toEqual({ usable: 'live', ageMs: 0 });
  });

  it('is live after an outage as soon as it has what happened in it, and no sooner', () => {
    live();
    judge.streamEnded();
    judge.reachable(false);
    judge.contacted(14);
    expect(judge.judge().usable).toBe('no');
    judge.has(13);
    judge.contacted(15);
    expect(judge.judge().usable).toBe('no');
    judge.has(14);
    expect(judge.judge().usable).toBe('live');
  });

  it('is doubted where another call got no answer, until the stream says something or ends', () => {
    judge.doubt();
    expect(judge.isDoubted).toBe(false);
    judge.contacted(1);
    judge.doubt();
    expect(judge.isDoubted).toBe(true);
    judge.contacted(1);
    expect(judge.isDoubted).toBe(false);
    judge.doubt();
    judge.streamEnded();
    expect(judge.isDoubted).toBe(false);
  });

  it('of an earlier run is stale as well', () => {
    judge.remember(clock.now() - 60_000);
    judge.has(10);
    judge.reachable(false);
    expect(judge.judge()).toEqual({ usable: 'stale', ageMs: 60_000 });
  });

  it('that was removed is of no use', () => {
    live();
    judge.forget();
    judge.reachable(false);
    expect(judge.judge()).toEqual({ usable: 'no', ageMs: Infinity });
  });

  it('of another history is not held to positions of the one before', () => {
    live(1000);
    judge.contacted(2000);
    clock.advance(6000);
    judge.forget();
    judge.has(3);
    expect(judge.judge().usable).toBe('no');
    judge.contacted(3);
    expect(judge.judge()).toEqual({ usable: 'live', ageMs: 0 });
  });

  it('is no younger than now when the clock is set back', () => {
    live();
    clock.advance(-3_600_000);
    expect(judge.judge().ageMs).toBe(0);
  });
});
