import { describe, expect, it } from 'vitest';
import { run, work } from '../../../cli/commands/inbox/work.ts';
import type { ErrorCode } from '../../../shared/lib/errors.ts';
import { event, fakeContext, fakeInbox, refusal, type FakeClient } from './fakes.ts';
import { workerOf } from './worker.ts';

const ACK = 'POST /v1/inbox/ack';
const NACK = 'POST /v1/inbox/nack';

/** Refuses to close the event, which a look finds with this status. */
function parkedInbox(code: ErrorCode, found: Record<string, unknown>, more = {}) {
  const refuse = (): never => {
    throw refusal(code);
  };
  const get = { 'GET /v1/inbox/events/evt_1': () => ({ id: 'evt_1', ...found }) };
  return fakeInbox([event('evt_1')], { [ACK]: refuse, [NACK]: refuse, ...get, ...more });
}

async function closedOf(client: FakeClient, command: string) {
  const { options, finished, notes } = workerOf(client, command);
  await work(options);
  return { ...finished[0], notes };
}

describe('an event that its command parked', () => {
  const waiting_for = [{ id: 'req_1', status: 'pending', expires_at: '2026-01-02T00:00:00.000Z' }];
  const waiting = { status: 'waiting', waiting_for, wakes_at: '2026-01-02T00:00:00.000Z' };

  it('is left alone on exit 6, with what it waits for', async () => {
    const client = parkedInbox('EVENT_NOT_CLAIMABLE', waiting);
    expect(await closedOf(client, 'exit 6')).toMatchObject({
      outcome: 'parked',
      exit_code: 6,
      waiting_for,
      wakes_at: waiting.wakes_at,
      notes: [],
    });
  });

  it.each([
    ['EVENT_NOT_CLAIMABLE', 'pending'],
    ['LEASE_NOT_HELD', 'claimed'],
  ] as const)('is parked too where an answer woke it by then: %s, %s', async (code, status) => {
    expect(await closedOf(parkedInbox(code, { status }), 'exit 6')).toMatchObject({
      outcome: 'parked',
    });
  });

  it('is parked whatever the command ends with', async () => {
    for (const code of [0, 1, 65]) {
      const client = parkedInbox('EVENT_NOT_CLAIMABLE', waiting);
      expect(await closedOf(client, `exit ${code}`)).toMatchObject({ outcome: 'parked' });
    }
  });

  it('is dead after too many parks', async () => {
    const client = parkedInbox('EVENT_NOT_CLAIMABLE', { status: 'dead' });
    expect(await closedOf(client, 'exit 6')).toMatchObject({ outcome: 'dead' });
  });

  it('was none: exit 6 without a park is a failure', async () => {
    const client = fakeInbox([event('evt_1')]);
    const finished = await closedOf(client, 'echo undecided >&2; exit 6');
    expect(client.bodies(NACK)[0]).toMatchObject({ retry: true, reason: 'exit 6: undecided' });
    expect(finished).toMatchObject({ outcome: 'retry', exit_code: 6 });
  });

  it('was none: a lease that ran out is lost, also on exit 6', async () => {
    const client = parkedInbox('LEASE_EXPIRED', { status: 'pending' });
    expect(await closedOf(client, 'exit 6')).toMatchObject({ outcome: 'lost' });
  });

  it('is no failure of a worker that runs once', async () => {
    const client = parkedInbox('EVENT_NOT_CLAIMABLE', waiting);
    const { context } = fakeContext({ client, options: { exec: 'exit 6', once: true } });
    expect(await run(context)).toBe(0);
  });
});

describe('a command that runs again with the answer', () => {
  const names = 'printf "%s|%s|%s" "$SVC_RESUMED" "$SVC_DECISION" "$SVC_REQUEST_ID"';
  const first = { request_id: 'req_1', status: 'approved', decision: null };
  const second = { request_id: 'req_2', status: 'modified', decision: 'at night' };

  it.each([
    ['by its status', { because: 'req_1', answers: [first] }, '1|approved|req_1'],
    ['by the decision', { because: 'req_2', answers: [second] }, '1|at night|req_2'],
    [
      'by the answer that woke it',
      {
        because: 'req_2',
        answers: [
          { ...first, status: 'pending' },
          { ...second, status: 'denied', decision: null },
        ],
      },
      '1|denied|req_2',
    ],
    ['by a time alone', { because: '2026-01-02T00:00:00.000Z', answers: [] }, '1||'],
  ])('knows it from its environment: %s', async (_name, resumed, text) => {
    const client = fakeInbox([event('evt_1', { resumed })]);
    await work(workerOf(client, names).options);
    expect(client.bodies(ACK)[0]?.['result']).toEqual({ text });
  });

  it('knows nothing of the event of a worker around it', async () => {
    const client = fakeInbox([event('evt_1')]);
    const outer = { SVC_RESUMED: '1', SVC_DECISION: 'approved', SVC_REQUEST_ID: 'req_9' };
    await work(workerOf(client, names, { env: { ...process.env, ...outer } }).options);
    expect(client.bodies(ACK)[0]?.['result']).toEqual({ text: '||' });
  });

  it('reads the answers on standard input', async () => {
    const client = fakeInbox([event('evt_1', { resumed: { answers: [first], state: { n: 1 } } })]);
    await work(workerOf(client, 'cat').options);
    expect(client.bodies(ACK)[0]?.['result']).toMatchObject({
      resumed: { answers: [first], state: { n: 1 } },
    });
  });
});

describe('a worker', () => {
  it("isn't told of the decisions of other keys with --mine", async () => {
    const client = fakeInbox([]);
    await work(workerOf(client, 'exit 0', { mine: true }).options);
    const waits = client.calls.filter(({ route }) => route === 'GET /v1/inbox/wait');
    expect(waits.map(({ options }) => options.query?.['mine'])).toEqual([true]);
  });
});
