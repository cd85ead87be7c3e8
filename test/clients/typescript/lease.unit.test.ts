import { describe, expect, it } from 'vitest';
import { Svc } from '../../../clients/typescript/svc.ts';
import { answeredFailure } from '../../../clients/typescript/core/errors.ts';
import { errorOf } from '../../../clients/typescript/errors.ts';
import type { Finished } from '../../../clients/typescript/work/worker.ts';
import { ManualClock } from './manual-clock.ts';
import { promised } from './promised.ts';

type Answer = () => unknown;

/** A worker on one event, over a server that answers as a test says, by a clock that the test moves. */
function stage(answers: Readonly<Record<string, Answer>>) {
  const clock = new ManualClock();
  const calls: string[] = [];
  const caller = {
    gateway: null,
    send: async (_method: string, path: string) => {
      calls.push(path);
      await Promise.resolve();
      const answer = answers[path];
      if (answer) return answer();
      const event = { id: 'evt_1', type: 'a', source: 's', lease_id: 'lse_1', status: 'claimed' };
      if (path === '/v1/inbox/wait') return { event };
      return path === '/v1/inbox/claim' ? event : { status: 'done' };
    },
  };
  const notes: string[] = [];
  const svc = new Svc({ note: (text) => notes.push(text) }, caller, clock);
  return { clock, calls, svc, notes };
}

async function turns(count = 20): Promise<void> {
  for (let n = 0; n < count; n += 1) await Promise.resolve();
}

const away = (): never => {
  throw errorOf(answeredFailure(503, { error: { code: 'UNAVAILABLE', message: 'Away.' } }));
};

describe('the lease of an event', () => {
  it('is lost before anybody else can have the event, counted from when the claim was sent', async () => {
    const lostAt: number[] = [];
    const { clock, calls, svc } = stage({
      '/v1/inbox/extend': away,
      '/v1/inbox/claim': () => {
        // The answer took ten seconds.
        clock.advance(10_000);
        return { id: 'evt_1', type: 'a', source: 's', lease_id: 'lse_1' };
      },
    });
    const finished: Finished[] = [];
    const working = svc.work(
      {},
      (_event, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            lostAt.push(clock.now());
            resolve('too late');
          });
        }),
      { max: 1, leaseSeconds: 100, onFinished: (one) => finished.push(one) },
    );
    await turns();
    while (lostAt.length === 0 && clock.now() < 200_000) {
      clock.advance(1000);
      await turns();
    }
    await working;
    expect(lostAt[0]).toBeGreaterThan(95_000);
    expect(lostAt[0]).toBeLessThan(100_000);
    expect(finished).toMatchObject([{ outcome: 'lost' }]);
    expect(calls).toContain('/v1/inbox/extend');
    expect(calls).not.toContain('/v1/inbox/ack');
  });

  it('is kept while the handler runs', async () => {
    const { clock, calls, svc } = stage({});
    const done = promised();
    const working = svc.work({}, () => done.promise, { max: 1, leaseSeconds: 30 });
    await turns();
    for (let second = 0; second < 300; second += 1) {
      clock.advance(1000);
      await turns();
    }
    done.resolve();
    await working;
    expect(calls.filter((path) => path === '/v1/inbox/extend')).toHaveLength(20);
    expect(calls.at(-1)).toBe('/v1/inbox/ack');
  });

  it('is lost when the server says so', async () => {
    const { clock, calls, svc } = stage({
      '/v1/inbox/extend': () => {
        throw errorOf(
          answeredFailure(409, { error: { code: 'LEASE_EXPIRED', message: 'Expired.' } }),
        );
      },
    });
    const working = svc.work(
      {},
      (_event, { signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve('too late'))),
      { max: 1, leaseSeconds: 30 },
    );
    await turns();
    clock.advance(15_000);
    await working;
    expect(calls).not.toContain('/v1/inbox/ack');
  });
});
