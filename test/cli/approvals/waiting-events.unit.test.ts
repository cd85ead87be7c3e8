import { describe, expect, it } from 'vitest';
import { waitingEvents, waitingPairs } from '../../../cli/approvals/waiting-events.ts';
import { FakeClient, refusal } from '../tools/fakes.ts';

const NOW = Date.parse('2026-01-02T12:00:00.000Z');
const HOUR_MS = 3_600_000;

function parked(hoursAgo: number, ...ids: readonly string[]) {
  const waiting_for = ids.map((id) => ({ id, status: id.startsWith('req') ? 'pending' : 'done' }));
  return { parked_at: new Date(NOW - hoursAgo * HOUR_MS).toISOString(), waiting_for };
}

async function text(events: readonly object[], requests: readonly object[]) {
  const client = new FakeClient({
    'GET /v1/inbox': () => ({ items: events }),
    'GET /v1/requests': () => ({ items: requests }),
  });
  return waitingPairs(await waitingEvents(() => client), NOW)[0]?.[1];
}

describe('what svc status says of parked events', () => {
  const MORE = ' (svc inbox list --status waiting)';

  it('counts the people whom their open requests ask, each once', async () => {
    const events = [parked(1, 'req_1'), parked(5, 'req_2', 'evt_9'), parked(2, 'req_2')];
    const requests = [
      { request_id: 'req_1', approvers: ['chn_1'] },
      { request_id: 'req_2', approvers: ['chn_1', 'chn_2'] },
      { request_id: 'req_3', approvers: ['chn_3'] },
    ];
    expect(await text(events, requests)).toBe(
      `3 events wait for 2 people, the oldest for 5 h${MORE}`,
    );
  });

  it('names nobody where an event waits for a time', async () => {
    expect(await text([parked(3)], [])).toBe(`1 event waits, for 3 h${MORE}`);
  });

  it('says that a page of them is not all', async () => {
    const events = Array.from({ length: 100 }, () => parked(1));
    expect(await text(events, [])).toBe(`100 or more events wait, the oldest for 1 h${MORE}`);
  });

  it('is nothing where nothing waits, and where the key may not look', async () => {
    expect(await text([], [])).toBeUndefined();
    const client = new FakeClient({
      'GET /v1/inbox': () => {
        throw refusal('SCOPE_MISSING');
      },
    });
    expect(await waitingEvents(() => client)).toBeNull();
  });
});
