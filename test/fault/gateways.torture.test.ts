import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Receiver } from '../gateway/callbacks/callback-receiver.ts';
import { DrillLoad } from '../helpers/drill-load.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { Gateways } from '../helpers/gateways.ts';
import { findProgram } from '../helpers/programs.ts';
import { required } from '../helpers/require.ts';

/** Each round takes a minute: the store dies once, and each gateway twice. `SVC_DRILL_ROUNDS=20` for the long version. */
const ROUNDS = Number(process.env['SVC_DRILL_ROUNDS'] ?? 1);
/** A gateway that is silent for 15 s is taken for dead by the others. */
const NOTICED_MS = 20_000;
/** Longer than a gateway tries before it refuses: 5 s, and as long again for a write that was under way. */
const WITHOUT_STORE_MS = 12_000;
/** Leases of 30 s, claims of 60 s and requests of a minute are over by then, so work that gets no less until then never will. */
const STUCK_AFTER_MS = 180_000;
/** A push not recorded by then was cut short by something other than a kill. */
const RECORDED_WITHIN_MS = 5000;
/** Claimed deliveries still go out for this long after the store dies. */
const PUSHED_ON_MS = 2000;

/** A push that failed twice, as one may on a slow machine, has its third attempt after 1 and 5 minutes. */
const RETRIED_WITHIN_MS = 420_000;
/** A claim of a gateway that died lapses after 60 s; a push that is due for longer than this, nobody makes. */
const OVERDUE_MS = 90_000;

const nginx = findProgram('nginx');
const roads = ['hashed', 'even'] as const;
type Road = (typeof roads)[number];

interface Span {
  readonly from: number;
  readonly to: number;
}

interface Push {
  readonly event_id: string;
  readonly attempts: number;
  readonly next_attempt_at: string | null;
  readonly log: readonly { readonly at: string; readonly error: string | null }[];
}

/** The rest of a project's work: unfinished events, and pushes with their results so far. */
async function leftOf(load: DrillLoad): Promise<{ work: string[]; pushes: Push[] }> {
  const pushes: Push[] = [];
  for (const { id } of await load.all('/v1/routes')) {
    const path = `/v1/routes/${String(id)}/attempts?status=pending&limit=100`;
    pushes.push(...((await load.all(path)) as unknown as Push[]));
  }
  const routed = new Set(pushes.map(({ event_id }) => event_id));
  // Between two looks a lease may run out, or a worker may claim: one look at each state would miss the event.
  const events: string[] = [];
  for (const status of ['claimed', 'pending', 'claimed'])
    events.push(...(await load.eventsOf(status)));
  const requests = await load.all('/v1/requests?status=pending&limit=100');
  const work = [...new Set(events)].filter((id) => !routed.has(id));
  return { work: [...work, ...requests.map((one) => String(one['request_id']))], pushes };
}

interface Left {
  readonly work: readonly string[];
  /** Due for long, and nobody makes them: a wake-up was lost. */
  readonly overdue: readonly Push[];
  /** They failed, and the schedule of retries holds them back. */
  readonly retrying: readonly Push[];
  readonly others: readonly Push[];
}

/** Waits until no work is left, for as long as it gets less, and returns any that remains. */
async function drained(loads: readonly DrillLoad[]): Promise<Left> {
  const began = performance.now();
  let [least, lessAt] = [Number.POSITIVE_INFINITY, began];
  for (;;) {
    const all = await Promise.all(loads.map(leftOf));
    const work = all.flatMap((one) => one.work);
    const pushes = all.flatMap((one) => one.pushes);
    const overdue = pushes.filter(({ next_attempt_at: at }) => overdueMs(at) > OVERDUE_MS);
    const retrying = pushes.filter(
      (one) => !overdue.includes(one) && one.log.some(({ error }) => error !== null),
    );
    const others = pushes.filter((one) => !overdue.includes(one) && !retrying.includes(one));
    const [now, left] = [performance.now(), work.length + others.length];
    if (left < least) [least, lessAt] = [left, now];
    const isStuck = left > 0 && now - lessAt > STUCK_AFTER_MS;
    const isDone = work.length + pushes.length === 0;
    const isLate = left === 0 && now - began > RETRIED_WITHIN_MS;
    if (isDone || isStuck || overdue.length > 0 || isLate) {
      return { work, overdue, retrying, others };
    }
    await sleep(1000);
  }
}

const overdueMs = (at: string | null): number => (at === null ? 0 : Date.now() - Date.parse(at));

describe.runIf(required('nginx', nginx !== null, 'apt-get install -y nginx-light'))(
  'two gateways over one store, killed by turns under load',
  () => {
    const folder = temporaryFolder();
    const loads = new Map<Road, DrillLoad>();
    /** When each push came, by its webhook-id. */
    const pushed = new Map<string, number[]>();
    const misnamed: string[] = [];
    const kills: number[] = [];
    const alone: Span[] = [];
    const withoutStore: Span[] = [];
    let gateways: Gateways;
    let receiver: Receiver;

    beforeAll(async () => {
      receiver = await Receiver.start();
      receiver.answer((response, { headers, event }) => {
        const id = headers['webhook-id'] ?? '';
        if (event.id !== id) misnamed.push(id);
        pushed.set(id, [...(pushed.get(id) ?? []), performance.now()]);
        // Slow enough that kills fall between a push and its record.
        setTimeout(() => response.writeHead(204).end(), 5);
      });
      gateways = await Gateways.start({
        folder: folder.path,
        nginx: nginx ?? '',
        publicRoad: 'hashed',
      });
      const projects = await gateways.newProjects(...roads);
      for (const [n, road] of roads.entries()) {
        const project = projects[n];
        if (!project) throw new Error('A project is missing.');
        const load = new DrillLoad(gateways.urls[road], project);
        await load.prepare(receiver.url(`/${road}`));
        loads.set(road, load);
      }
    });
    afterAll(async () => {
      await gateways.stop();
      await receiver.stop();
      folder.remove();
    });

    const during = async (spans: Span[], work: () => Promise<void>): Promise<void> => {
      const from = performance.now();
      await work();
      spans.push({ from, to: performance.now() });
    };
    const killFor = async (n: number, ms: number): Promise<void> => {
      kills.push(performance.now());
      await gateways.kill(n);
      await sleep(ms);
      await gateways.startOne(n);
    };

    async function round(): Promise<void> {
      await sleep(5000);
      await killFor(0, 1500);
      await sleep(4000);
      await during(alone, () => killFor(1, NOTICED_MS));
      await sleep(4000);
      await during(withoutStore, async () => {
        kills.push(performance.now());
        await gateways.killStore();
        await sleep(WITHOUT_STORE_MS);
        await gateways.startStore();
      });
      // The gateways go on by themselves.
      for (const { acked } of loads.values()) {
        const before = acked.size;
        await expect.poll(() => acked.size).toBeGreaterThan(before);
      }
      await sleep(4000);
      await killFor(0, 500);
      await sleep(3000);
      await killFor(1, 0);
      await sleep(2000);
    }

    it(
      `${ROUNDS} times`,
      { timeout: ROUNDS * 150_000 + STUCK_AFTER_MS + RETRIED_WITHIN_MS },
      async () => {
        const all = [...loads.values()];
        for (const load of all) load.begin();
        for (let n = 0; n < ROUNDS; n += 1) await round();
        await Promise.all(all.map((load) => load.endSending()));
        const nothing = { work: [], overdue: [], retrying: [], others: [] };
        expect(await drained(all)).toEqual(nothing);
        await Promise.all(all.map((load) => load.endWork()));
      },
    );

    describe.each(roads)('by the road that is %s', (road) => {
      const load = (): DrillLoad => {
        const found = loads.get(road);
        if (!found) throw new Error('It did not begin.');
        return found;
      };
      const eventsOf = (status: string): Promise<string[]> => load().eventsOf(status);
      const countIn = async (op: string): Promise<Map<string, number>> => {
        const counts = new Map<string, number>();
        for (const entry of await load().all(`/v1/ledger?op=${op}&limit=500`)) {
          if (entry['outcome'] !== 'ok') continue;
          const subject = String(entry['subject']);
          counts.set(subject, (counts.get(subject) ?? 0) + 1);
        }
        return counts;
      };

      it('no caller was told anything but to come again', () => {
        expect(load().wrong).toEqual([]);
      });

      it('every acknowledged delivery is one event, and no other is there', async () => {
        const done = await eventsOf('done');
        for (const status of ['pending', 'claimed', 'failed', 'dead'])
          expect([status, await eventsOf(status)]).toEqual([status, []]);
        const accepted = [...load().accepted.values()];
        expect(accepted.length).toBeGreaterThan(ROUNDS * 100);
        expect(new Set(accepted).size).toBe(accepted.length);
        expect(done.toSorted()).toEqual(accepted.toSorted());
        const received = await countIn('event.received');
        expect([...received.keys()].toSorted()).toEqual(accepted.toSorted());
        expect([...received.values()].every((count) => count === 1)).toBe(true);
      });

      it('every acknowledged ack holds, and work went on while one was dead', async () => {
        const done = new Set(await eventsOf('done'));
        const { acked } = load();
        expect([...acked.keys()].filter((id) => !done.has(id))).toEqual([]);
        for (const { from, to } of alone) {
          const late = [...acked.values()].filter((at) => at > from + 3000 && at < to);
          expect(late.length).toBeGreaterThan(0);
        }
      });

      it('every routed event was pushed, and again only where a kill cut it short', async () => {
        const routed = [...load().accepted].filter(([name]) => name.startsWith('routed-'));
        expect(misnamed).toEqual([]);
        for (const { id } of await load().all('/v1/routes')) {
          const pending = await load().all(
            `/v1/routes/${String(id)}/attempts?status=pending&limit=100`,
          );
          expect(pending).toEqual([]);
        }
        expect(routed.filter(([, id]) => !pushed.has(id))).toEqual([]);
        for (const [, id] of routed) {
          const repeated = (pushed.get(id) ?? []).slice(0, -1);
          const isCut = (at: number): boolean =>
            kills.some((kill) => kill > at - PUSHED_ON_MS && kill < at + RECORDED_WITHIN_MS);
          expect([id, repeated.filter((at) => !isCut(at))]).toEqual([id, []]);
        }
      });

      it('every lease that ran out did so once, and so did every request', async () => {
        const claims = await countIn('inbox_claim');
        const expired = await countIn('lease.expired');
        const work = [...load().accepted].filter(([name]) => name.startsWith('work-'));
        for (const [, id] of work)
          expect([id, (claims.get(id) ?? 0) - (expired.get(id) ?? 0)]).toEqual([id, 1]);
        expect(expired.size).toBeGreaterThan(0);
        const over = await countIn('request.expired');
        const { asked } = load();
        expect(asked.size).toBeGreaterThan(5);
        expect([...over.keys()].toSorted()).toEqual([...asked].toSorted());
        expect([...over.values()].every((count) => count === 1)).toBe(true);
        // And told the inbox once.
        const told = await load().all('/v1/inbox?type=request.resolved&limit=100');
        const requests = told.map(({ payload }) => (payload as { request_id: string }).request_id);
        expect(requests.toSorted()).toEqual([...asked].toSorted());
      });

      it('without the store calls are refused', () => {
        for (const { from, to } of withoutStore) {
          const refused = load().refusedAt.filter((at) => at > from && at < to);
          expect(refused.length).toBeGreaterThan(0);
        }
      });

      it('the ledger holds', async () => {
        const { body } = await load().call('POST', '/v1/ledger/verify', {});
        expect(body).toMatchObject({ ok: true, anchored: true, first_bad_seq: null });
      });
    });
  },
);
