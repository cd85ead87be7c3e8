import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  MAX_ATTEMPTS,
  ack,
  claim,
  effective,
  extend,
  finish,
  nack,
  release,
  requeue,
  retryDelayMs,
  type EventQueueRow,
} from '../../../shared/rules/inbox/event-state.ts';

const NOW = 1_000_000;

const row = (change: Partial<EventQueueRow> = {}): EventQueueRow => ({
  status: 'pending',
  attempts: 0,
  lease_id: null,
  holder_key_id: null,
  due_at: null,
  routed: false,
  ...change,
});
const claimed = (change: Partial<EventQueueRow> = {}): EventQueueRow =>
  row({ status: 'claimed', lease_id: 'L1', holder_key_id: 'A', due_at: NOW + 30_000, ...change });

describe('retryDelayMs', () => {
  it.each([
    [1, 30_000],
    [2, 60_000],
    [3, 120_000],
    [4, 240_000],
    [7, 1_920_000],
    [8, 3_600_000],
    [5000, 3_600_000],
  ])('after %i failures is %i', (attempts, delay) => {
    expect(retryDelayMs(attempts)).toBe(delay);
  });
});

describe('effective', () => {
  it('ends a lease at its last millisecond, not before', () => {
    const held = claimed();
    expect(effective(held, NOW + 29_999)).toBe(held);
    expect(effective(held, NOW + 30_000)).toEqual(row({ attempts: 1, holder_key_id: 'A' }));
  });

  it('makes an event dead when the fifth lease runs out', () => {
    expect(MAX_ATTEMPTS).toBe(5);
    expect(effective(claimed({ attempts: 3 }), NOW + 30_000)).toMatchObject({
      status: 'pending',
      attempts: 4,
    });
    expect(effective(claimed({ attempts: 4 }), NOW + 30_000)).toMatchObject({
      status: 'dead',
      attempts: 5,
      due_at: null,
    });
  });

  it('ends a backoff without counting an attempt', () => {
    const failed = row({ status: 'failed', attempts: 2, due_at: NOW });
    expect(effective(failed, NOW - 1)).toBe(failed);
    expect(effective(failed, NOW)).toEqual(row({ attempts: 2 }));
  });

  it('leaves final states alone', () => {
    const done = row({ status: 'done', holder_key_id: 'A' });
    expect(effective(done, NOW)).toBe(done);
  });
});

describe('claim', () => {
  const caller = { now: NOW, leaseSeconds: 300, keyId: 'B', leaseId: 'L2' };

  it('takes a pending event', () => {
    expect(claim(row({ attempts: 2 }), caller)).toEqual({
      ok: true,
      next: claimed({ attempts: 2, lease_id: 'L2', holder_key_id: 'B', due_at: NOW + 300_000 }),
    });
  });

  it('takes an event whose lease or backoff has just ended', () => {
    expect(claim(claimed({ due_at: NOW }), caller)).toMatchObject({
      next: { attempts: 1, holder_key_id: 'B' },
    });
    expect(claim(row({ status: 'failed', attempts: 1, due_at: NOW }), caller)).toMatchObject({
      next: { attempts: 1 },
    });
  });

  it.each<[EventQueueRow, string]>([
    [row({ routed: true }), 'EVENT_ROUTED'],
    [claimed(), 'EVENT_NOT_CLAIMABLE'],
    [claimed({ holder_key_id: 'B' }), 'EVENT_NOT_CLAIMABLE'],
    [claimed({ attempts: 4, due_at: NOW }), 'EVENT_NOT_CLAIMABLE'],
    [row({ status: 'failed', due_at: NOW + 1 }), 'EVENT_NOT_CLAIMABLE'],
    [row({ status: 'done' }), 'EVENT_NOT_CLAIMABLE'],
    [row({ status: 'dead' }), 'EVENT_NOT_CLAIMABLE'],
  ])('refuses %j', (refused, code) => {
    expect(claim(refused, caller)).toEqual({ ok: false, code });
  });
});

describe('ack, nack and extend', () => {
  const ran = row({ attempts: 1, holder_key_id: 'A' });

  it.each<[string, EventQueueRow, { keyId: string; leaseId?: string }, string]>([
    ['another key holds it', claimed(), { keyId: 'B' }, 'LEASE_NOT_HELD'],
    [
      'another key holds it, right lease id',
      claimed(),
      { keyId: 'B', leaseId: 'L1' },
      'LEASE_NOT_HELD',
    ],
    [
      'the same key holds a newer lease',
      claimed({ lease_id: 'L2' }),
      { keyId: 'A', leaseId: 'L1' },
      'LEASE_NOT_HELD',
    ],
    ['the lease has just run out', claimed({ due_at: NOW }), { keyId: 'A' }, 'LEASE_EXPIRED'],
    ['the lease ran out and was swept', ran, { keyId: 'A', leaseId: 'L1' }, 'LEASE_EXPIRED'],
    ['the lease of another key ran out', ran, { keyId: 'B' }, 'LEASE_NOT_HELD'],
    [
      'the fifth lease ran out',
      claimed({ attempts: 4, due_at: NOW }),
      { keyId: 'A' },
      'EVENT_NOT_CLAIMABLE',
    ],
    ['never claimed', row(), { keyId: 'A' }, 'EVENT_NOT_CLAIMABLE'],
    [
      'in backoff',
      row({ status: 'failed', due_at: NOW + 1 }),
      { keyId: 'A' },
      'EVENT_NOT_CLAIMABLE',
    ],
    [
      'back from backoff',
      row({ status: 'failed', due_at: NOW }),
      { keyId: 'A' },
      'EVENT_NOT_CLAIMABLE',
    ],
    [
      'done by another key',
      row({ status: 'done', holder_key_id: 'A' }),
      { keyId: 'B' },
      'EVENT_NOT_CLAIMABLE',
    ],
    ['dead', row({ status: 'dead', holder_key_id: 'A' }), { keyId: 'A' }, 'EVENT_NOT_CLAIMABLE'],
    ['routed', row({ routed: true }), { keyId: 'A' }, 'EVENT_ROUTED'],
    [
      'routed and done',
      row({ routed: true, status: 'done', holder_key_id: 'A' }),
      { keyId: 'A' },
      'EVENT_ROUTED',
    ],
  ])('refuse when: %s', (_, refused, who, code) => {
    const caller = { now: NOW, ...who };
    expect(ack(refused, caller)).toEqual({ ok: false, code });
    expect(nack(refused, { ...caller, retry: true })).toEqual({ ok: false, code });
    expect(extend(refused, { ...caller, leaseSeconds: 60 })).toEqual({ ok: false, code });
  });

  it('ack finishes the event, and may be repeated by the same key and lease', () => {
    const first = ack(claimed(), { now: NOW, keyId: 'A', leaseId: 'L1' });
    const done = row({ status: 'done', lease_id: 'L1', holder_key_id: 'A' });
    expect(first).toEqual({ ok: true, next: done, repeat: false });
    expect(ack(done, { now: NOW, keyId: 'A' })).toEqual({ ok: true, next: done, repeat: true });
    expect(ack(done, { now: NOW, keyId: 'A', leaseId: 'L1' })).toMatchObject({ repeat: true });
    // A worker that lost its lease to another one with the same key did not finish the event.
    expect(ack(done, { now: NOW, keyId: 'A', leaseId: 'L0' })).toMatchObject({
      code: 'EVENT_NOT_CLAIMABLE',
    });
  });

  it.each([
    [0, true, 'failed', NOW + 30_000],
    [3, true, 'failed', NOW + 240_000],
    [4, true, 'dead', null],
    [0, false, 'dead', null],
  ] as const)('nack after %i failures, retry %s: %s', (attempts, retry, status, due) => {
    expect(nack(claimed({ attempts }), { now: NOW, keyId: 'A', retry })).toEqual({
      ok: true,
      next: row({ status, attempts: attempts + 1, due_at: due }),
    });
  });

  it('extend moves the end of the lease', () => {
    expect(extend(claimed(), { now: NOW + 29_999, keyId: 'A', leaseSeconds: 60 })).toEqual({
      ok: true,
      next: claimed({ due_at: NOW + 89_999 }),
    });
  });
});

describe('requeue', () => {
  it('revives a dead event only', () => {
    const dead = row({ status: 'dead', attempts: 5, holder_key_id: 'A' });
    expect(requeue(dead)).toEqual({ ok: true, next: row() });
    for (const status of ['pending', 'claimed', 'done', 'failed'] as const) {
      expect(requeue(row({ status }))).toEqual({ ok: false, code: 'EVENT_NOT_CLAIMABLE' });
    }
  });
});

describe('what a person does by hand', () => {
  const STATUSES = ['pending', 'claimed', 'done', 'failed', 'dead', 'waiting'] as const;

  it('releases a lease, which is no failure, and nothing else', () => {
    expect(release(claimed({ attempts: 2 }))).toEqual({ ok: true, next: row({ attempts: 2 }) });
    for (const status of STATUSES.filter((one) => one !== 'claimed')) {
      expect(release(row({ status }))).toEqual({ ok: false, code: 'EVENT_NOT_CLAIMABLE' });
    }
  });

  it('finishes what no agent works on', () => {
    for (const status of STATUSES) {
      const left = row({ status, attempts: 1, due_at: NOW });
      const isFree = status !== 'claimed' && status !== 'done';
      expect([status, finish(left)]).toEqual([
        status,
        isFree
          ? { ok: true, next: row({ status: 'done', attempts: 1 }) }
          : { ok: false, code: 'EVENT_NOT_CLAIMABLE' },
      ]);
    }
  });

  it('leaves events alone that routes deliver', () => {
    for (const rule of [release, finish]) {
      expect(rule(row({ routed: true }))).toEqual({ ok: false, code: 'EVENT_ROUTED' });
    }
  });
});

/** The same rules told as a history, with a sweeper that runs at every tick. */
class ReferenceQueue {
  state: 'waiting' | 'held' | 'backoff' | 'finished' | 'buried' = 'waiting';
  failures = 0;
  end = 0;
  holder: { key: string; lease: string } | null = null;
  lapsed: string | null = null;

  tick(now: number): void {
    if (this.state === 'backoff' && now >= this.end) this.state = 'waiting';
    if (this.state !== 'held' || now < this.end) return;
    this.lapsed = this.holder?.key ?? null;
    this.holder = null;
    this.fail(now, null);
  }

  fail(now: number, delay: number | null): void {
    this.failures += 1;
    this.state = this.failures === 5 ? 'buried' : delay === null ? 'waiting' : 'backoff';
    this.end = now + (delay ?? 0);
  }

  claim(now: number, key: string, lease: string, seconds: number): string {
    if (this.state !== 'waiting') return 'EVENT_NOT_CLAIMABLE';
    Object.assign(this, {
      state: 'held',
      holder: { key, lease },
      lapsed: null,
      end: now + seconds * 1000,
    });
    return 'ok';
  }

  allowed(key: string, lease: string | undefined): string {
    const mine = this.holder?.key === key && (lease === undefined || lease === this.holder.lease);
    if (this.state === 'held') return mine ? 'ok' : 'LEASE_NOT_HELD';
    if (this.state === 'waiting' && this.lapsed !== null)
      return this.lapsed === key ? 'LEASE_EXPIRED' : 'LEASE_NOT_HELD';
    return 'EVENT_NOT_CLAIMABLE';
  }

  ack(key: string, lease: string | undefined): string {
    const mine = this.holder?.key === key && (lease === undefined || lease === this.holder.lease);
    if (this.state === 'finished' && mine) return 'repeat';
    const answer = this.allowed(key, lease);
    if (answer === 'ok') this.state = 'finished';
    return answer;
  }

  nack(now: number, key: string, lease: string | undefined, retry: boolean): string {
    const answer = this.allowed(key, lease);
    if (answer !== 'ok') return answer;
    this.holder = null;
    this.fail(now, [30_000, 60_000, 120_000, 240_000][this.failures] ?? 0);
    if (!retry) this.state = 'buried';
    return 'ok';
  }

  extend(now: number, key: string, lease: string | undefined, seconds: number): string {
    const answer = this.allowed(key, lease);
    if (answer === 'ok') this.end = now + seconds * 1000;
    return answer;
  }

  requeue(): string {
    if (this.state !== 'buried') return 'EVENT_NOT_CLAIMABLE';
    Object.assign(this, { state: 'waiting', failures: 0, holder: null, lapsed: null });
    return 'ok';
  }
}

const STATUS = {
  waiting: 'pending',
  held: 'claimed',
  backoff: 'failed',
  finished: 'done',
  buried: 'dead',
};

const stepArbitrary = fc.record({
  what: fc.constantFrom('claim', 'claim', 'ack', 'nack', 'extend', 'requeue', 'sweep'),
  key: fc.constantFrom('A', 'B'),
  lease: fc.constantFrom('none', 'none', 'current', 'old'),
  seconds: fc.constantFrom(30, 60),
  retry: fc.boolean(),
  waitMs: fc.constantFrom(0, 0, 1, 29_999, 30_000, 60_000, 240_000),
});

interface Call {
  what: string;
  now: number;
  keyId: string;
  leaseId: string | undefined;
  newLeaseId: string;
  leaseSeconds: number;
  retry: boolean;
}

function callModel(model: ReferenceQueue, call: Call): string {
  const { now, keyId, leaseId, leaseSeconds } = call;
  model.tick(now);
  if (call.what === 'claim') return model.claim(now, keyId, call.newLeaseId, leaseSeconds);
  if (call.what === 'ack') return model.ack(keyId, leaseId);
  if (call.what === 'nack') return model.nack(now, keyId, leaseId, call.retry);
  if (call.what === 'extend') return model.extend(now, keyId, leaseId, leaseSeconds);
  return call.what === 'requeue' ? model.requeue() : 'ok';
}

function callRules(before: EventQueueRow, call: Call) {
  const { now, newLeaseId: leaseId } = call;
  if (call.what === 'claim') return claim(before, { ...call, leaseId });
  if (call.what === 'ack') return ack(before, call);
  if (call.what === 'nack') return nack(before, call);
  if (call.what === 'extend') return extend(before, call);
  const swept = effective(before, now);
  return call.what === 'requeue' ? requeue(swept) : { ok: true as const, next: swept };
}

function answerOf(result: ReturnType<typeof callRules>): string {
  if (!result.ok) return result.code;
  return 'repeat' in result && result.repeat ? 'repeat' : 'ok';
}

describe('the queue as a whole', () => {
  it('agrees with a reference model, swept or not', () => {
    fc.assert(
      fc.property(fc.array(stepArbitrary, { maxLength: 40 }), (steps) => {
        const model = new ReferenceQueue();
        let actual = row();
        let now = NOW;
        let leases = 0;
        for (const { what, key, lease, seconds, retry, waitMs } of steps) {
          now += waitMs;
          const given = { none: undefined, current: `L${leases}`, old: `L${leases - 1}` };
          const newLeaseId = `L${leases + 1}`;
          const leaseId = given[lease];
          const call = { what, now, keyId: key, leaseId, newLeaseId, leaseSeconds: seconds, retry };
          const result = callRules(actual, call);
          expect(answerOf(result)).toBe(callModel(model, call));
          if (result.ok) actual = result.next;
          if (what === 'claim' && result.ok) leases += 1;
          const seen = effective(actual, now);
          expect([seen.status, seen.attempts]).toEqual([STATUS[model.state], model.failures]);
          expect(seen.attempts).toBeGreaterThanOrEqual(0);
          expect(seen.attempts).toBeLessThanOrEqual(MAX_ATTEMPTS);
          expect(seen.due_at !== null).toBe(seen.status === 'claimed' || seen.status === 'failed');
        }
      }),
      { numRuns: 500 },
    );
  });
});
