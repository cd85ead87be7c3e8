import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Waits } from '../../../../shared/kernel/waits.ts';
import type { Clock } from '../../../../shared/lib/clock.ts';
import { askApproval } from '../../../../shared/operations/ask/approval.ts';
import { caller } from '../../../helpers/calls.ts';
import { TestGateway } from '../../../helpers/gateway.ts';
import { TestPeople, refused, type Asked } from '../../../gateway/approvals/people.ts';
import { askedAgain } from '../../../helpers/asked-again.ts';

const SECOND = 1000;

/** A clock that runs, and can be set ahead, or stopped. */
class RunningClock implements Clock {
  #offset = 0;
  #stoppedAt: number | null = null;

  now(): number {
    return this.#stoppedAt ?? Date.now() + this.#offset;
  }

  advance(ms: number): void {
    this.#offset += ms;
  }

  stop(): void {
    this.#stoppedAt = this.now();
  }
}

let test: TestGateway;
let clock: RunningClock;
let people: TestPeople;
beforeEach(async () => {
  clock = new RunningClock();
  test = await TestGateway.start({ clock });
  people = await TestPeople.of(test, clock);
});
afterEach(() => test.stop());

async function waiting(count: number): Promise<void> {
  await expect.poll(() => people.project.waits.size, { interval: 2 }).toBe(count);
}

const pending = () => people.project.store.read((store) => store.requests.pending(clock.now()));

/** The number in `No 7`. */
const number = ({ summary }: { summary: string }): number => Number(summary.slice(3));

/** What it answered, and how long it took. */
async function timed<T>(work: Promise<T>): Promise<{ answer: T; took: number }> {
  const started = performance.now();
  const answer = await work;
  return { answer, took: performance.now() - started };
}

/** Asks straight at the executor under an Idempotency-Key, so that nothing stands between this turn and that one. */
async function asker(input: Record<string, unknown>) {
  const { identity } = await caller(test, test.apiKey);
  const { executor } = test.gateway;
  return async (once: string, signal = new AbortController().signal) => {
    const named = { ...identity, idempotencyKey: once };
    const body = { action: 'deploy', summary: 'Deploy', ...input };
    const { value } = await executor.execute(askApproval, body, named, signal);
    return value as Asked;
  };
}

/** A request whose first caller has left, and the link about it. */
async function left(
  ask: Awaited<ReturnType<typeof asker>>,
  once: string,
): Promise<{ id: string; token: string }> {
  const leaving = new AbortController();
  const first = ask(once, leaving.signal);
  await waiting(1);
  leaving.abort();
  await expect(first).rejects.toThrow('The caller has gone.');
  const id = (await pending()).at(-1)?.id ?? '';
  return { id, token: await people.link(id) };
}

describe('a wait for a decision', () => {
  it('takes as long as it was asked to, and then the request is pending', async () => {
    const { answer, took } = await timed(people.ask({ wait_seconds: 1 }));
    const hint = expect.stringContaining("isn't a denial");
    expect(answer.body).toMatchObject({ status: 'pending', hint, poll_after_seconds: 30 });
    expect(took).toBeGreaterThan(950);
  });

  it('misses no decision: not before it looks, not between looking and sleeping', async () => {
    const ask = await asker({ wait_seconds: 120 });
    for (let turns = 0; turns < 24; turns += 1) {
      const { token } = await left(ask, `turn ${turns}`);
      const asking = ask(`turn ${turns}`);
      for (let passed = 0; passed < turns; passed += 1) {
        // Finer than a turn of the event loop at first, which is where looking and sleeping meet.
        if (turns < 8) await Promise.resolve();
        else await turn();
      }
      const decided = await test.gateway.approvals.decide(token, { verb: 'approve' });
      expect(decided?.outcome).toBe('taken');
      expect((await asking).status, `after ${turns}`).toBe('approved');
    }
    expect(people.project.waits.size).toBe(0);
  });

  it('of 50 at once ends each with its own decision', async () => {
    const body = { name: 'other', scopes: ['approvals'] };
    const made = await test.call<{ api_key: string }>('POST', '/v1/keys', { body });
    const keys = [test.apiKey, made.body.api_key];
    const asking = Array.from({ length: 50 }, (_, n) =>
      people.ask(
        { summary: `No ${n}`, wait_seconds: 60, options: ['a', 'b'] },
        { key: keys[n % 2] ?? '' },
      ),
    );
    await waiting(50);
    const rows = await pending();
    expect(rows).toHaveLength(50);
    // One after another: of fifty who look for their links at once, each opens all that have come.
    for (const { id } of rows) await people.link(id);
    await Promise.all(
      rows.toReversed().map((row) =>
        people.decide(row.id, {
          ...(number(row) % 2 === 0 ? { verb: 'approve' } : { verb: 'option', index: 1 }),
          comment: row.summary,
        }),
      ),
    );
    const answers = await Promise.all(asking);
    for (const [n, answer] of answers.entries()) {
      const told = n % 2 === 0 ? { status: 'approved' } : { status: 'modified', decision: 'b' };
      expect(answer.body).toMatchObject({ ...told, comment: `No ${n}` });
    }
    expect(new Set(answers.map((answer) => answer.body.request_id)).size).toBe(50);
    await waiting(0);
  });

  it('is not woken by what others decide', async () => {
    const asking = timed(people.ask({ wait_seconds: 1 }));
    await waiting(1);
    const other = await people.asked();
    await people.decide(other, { verb: 'deny' });
    const { answer, took } = await asking;
    expect(answer.body.status).toBe('pending');
    expect(took).toBeGreaterThan(950);
  });
});

/** A wait that looks at `state` and takes its time to. */
function slow(state: { done: boolean }, afterLook: () => void): Promise<true | null> {
  const waits = new Waits();
  let looks = 0;
  return waits.wait({
    keyId: 'key_a',
    counted: false,
    concerns: ({ kind }) => kind === 'request',
    check: async () => {
      const seen = state.done;
      looks += 1;
      await turn();
      if (looks === 1) {
        afterLook();
        waits.notify({ kind: 'request', id: 'req_a' });
      }
      await turn();
      return seen || null;
    },
    timeoutMs: 600_000,
    signal: new AbortController().signal,
  });
}

describe('what ends a wait', () => {
  it('is looked at again when it comes behind the look and before the sleep', async () => {
    const state = { done: false };
    expect(await slow(state, () => (state.done = true))).toBe(true);
  });

  it('is nothing that was told before, so that no wait goes on looking', async () => {
    const waits = new Waits();
    let looks = 0;
    const ended = waits.wait({
      keyId: 'key_a',
      counted: false,
      concerns: () => true,
      check: async () => {
        looks += 1;
        if (looks === 1) waits.notify({ kind: 'request', id: 'req_a' });
        return null;
      },
      timeoutMs: 300,
      signal: new AbortController().signal,
    });
    expect(await ended).toBeNull();
    expect(looks).toBe(2);
  });
});

describe('a wait that is longer than its request', () => {
  it('ends with expired when maintenance writes it down', async () => {
    const asking = people.ask({ expires_in: '1h', wait_seconds: 120 });
    await waiting(1);
    clock.advance(3600 * SECOND);
    await people.maintenance();
    const answer = await asking;
    const hint = "Nobody decided in time, so it isn't approved.";
    expect(answer.body).toMatchObject({ status: 'expired', hint, poll_after_seconds: null });
  });

  it('ends with expired at that time, though nobody writes it down', async () => {
    const ask = await asker({ expires_in: '1m', wait_seconds: 120 });
    const { id } = await left(ask, 'one');
    const row = await people.status(id);
    const started = performance.now();
    clock.advance(Date.parse(row.expires_at) - clock.now() - SECOND);
    expect(await ask('one')).toMatchObject({ request_id: id, status: 'expired' });
    expect(performance.now() - started).toBeGreaterThan(900);
  });

  it('says pending while a decision can still be taken', async () => {
    const ask = await asker({ expires_in: '1m', wait_seconds: 120 });
    const { id, token } = await left(ask, 'one');
    clock.advance(Date.parse((await people.status(id)).expires_at) - clock.now() - SECOND);
    // The clock of the machine was set back: its second takes longer than that of the wait.
    clock.stop();
    expect((await ask('one')).status).toBe('pending');
    const done = await test.gateway.approvals.decide(token, { verb: 'approve' });
    expect(done?.outcome).toBe('taken');
    expect((await ask('one')).status).toBe('approved');
  });

  it('says pending when the service stops before its time', async () => {
    const asking = people.ask({ expires_in: '1m', wait_seconds: 120 });
    await waiting(1);
    await test.gateway.endWaits();
    const { body } = await asking;
    expect(body).toMatchObject({ status: 'pending', poll_after_seconds: 30 });
    await people.decide(body.request_id, { verb: 'approve' });
    expect((await people.status(body.request_id)).status).toBe('approved');
  });
});

describe('whoever leaves', () => {
  it('leaves a request behind that lives on', async () => {
    const leaving = new AbortController();
    const asking = fetch(`${test.url}/v1/requests`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${test.apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': 'one',
      },
      body: JSON.stringify({ action: 'a', summary: 's', wait_seconds: 60 }),
      signal: leaving.signal,
    });
    await waiting(1);
    leaving.abort();
    await expect(asking).rejects.toThrow('aborted');
    await waiting(0);
    const id = (await pending())[0]?.id ?? '';
    await people.decide(id, { verb: 'approve', comment: 'go' });
    const decided = { request_id: id, status: 'approved', comment: 'go' };
    expect(await people.status(id)).toMatchObject(decided);
    expect(await people.events()).toMatchObject([decided]);
    const body = { action: 'a', summary: 's', wait_seconds: 60 };
    expect((await people.ask(body, { once: 'one' })).body).toMatchObject(decided);
  });

  it('need not be known to have left before the same call is repeated', async () => {
    const body = { wait_seconds: 60 };
    const first = people.ask(body, { once: 'one' });
    await waiting(1);
    const second = people.ask(body, { once: 'one' });
    await waiting(2);
    const rows = await pending();
    expect(rows).toHaveLength(1);
    await people.decide(rows[0]?.id ?? '', { verb: 'deny', comment: 'no' });
    const [one, two] = [await first, await second];
    expect(one.body).toMatchObject({ status: 'denied', comment: 'no' });
    expect(two.body).toEqual(one.body);
  });

  it('and whose key was revoked is told nothing more, and nobody can approve it', async () => {
    const made = await test.call<{ id: string; api_key: string }>('POST', '/v1/keys', {
      body: { name: 'soon gone', scopes: ['approvals'] },
    });
    const key = made.body.api_key;
    const asking = askedAgain(() => people.ask({ wait_seconds: 60 }, { key }));
    await waiting(1);
    const [row] = await pending();
    await test.call('DELETE', `/v1/keys/${made.body.id}`);
    expect(await asking).toMatchObject(refused(401, 'KEY_REVOKED'));
    expect((await people.decide(row?.id ?? '', { verb: 'approve' }))?.outcome).toBe('late');
  });
});
