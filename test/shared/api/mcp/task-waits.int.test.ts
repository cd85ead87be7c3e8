import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bytesOf, DECLARED, structured, TaskSite } from './task-site.ts';

let site: TaskSite;
let hook: string;
beforeEach(async () => {
  site = await TaskSite.start();
  hook = await site.test.addSource({ name: 'github' });
});
afterEach(() => site.stop());

const wait = (input: object = {}, by = site.agent) => site.call('inbox_wait', input, by);
const waitToClaim = (input: object = {}, by = site.agent) => wait({ claim: true, ...input }, by);

interface Claimed {
  readonly id: string;
  readonly lease_id: string;
}

async function claimed(): Promise<Claimed> {
  const body = { timeout_seconds: 1 };
  const answer = await site.test.call<{ items: Claimed[] }>('POST', '/v1/inbox/next', { body });
  return answer.body.items[0] ?? { id: '', lease_id: '' };
}

const eventOf = (answer: Parameters<typeof structured>[0]) =>
  structured(answer)['event'] as Record<string, unknown> | null;

const DAY_MS = 86_400_000;

describe('a wait that claims', () => {
  it('is no task if an event is pending', async () => {
    await site.arrive(hook);
    expect((await waitToClaim()).result).toMatchObject({
      resultType: 'complete',
      structuredContent: { event: { source: 'github', lease_id: expect.any(String) } },
    });
  });

  it('claims once, at the first reading, and reads the same ever after', async () => {
    const { result } = await waitToClaim({ source: 'github', timeout_seconds: 2 });
    expect(result).toMatchObject({ resultType: 'task', status: 'working', ttlMs: DAY_MS });
    const held = await site.held(result['taskId']);
    await site.arrive(hook);
    const first = await held.answer;
    expect(first.result).toMatchObject({
      status: 'completed',
      result: { structuredContent: { event: { source: 'github', lease_id: expect.any(String) } } },
    });
    await site.arrive(hook);
    expect(bytesOf(await site.get(result['taskId']))).toBe(bytesOf(first));
    expect(await site.pending()).toBe(1);
    const { id, lease_id } = eventOf(first) ?? {};
    // Links end an hour after the claim, and so does the longest lease.
    site.clock.advance(10_000);
    expect(bytesOf(await site.get(result['taskId']))).toBe(bytesOf(first));
    const body = { event_id: id, lease_id, result: 'done' };
    await site.test.call('POST', '/v1/inbox/ack', { body });
    expect(bytesOf(await site.get(result['taskId']))).toBe(bytesOf(first));
  });

  it('claims an event that was parked, and reads the same after it was parked again', async () => {
    await site.arrive(hook);
    const { id, lease_id } = await claimed();
    const until = new Date(site.clock.now() + 60_000).toISOString();
    const park = (lease: unknown, state: object) =>
      site.test.call('POST', '/v1/inbox/nack', {
        body: { event_id: id, lease_id: lease, until: [until], state },
      });
    await park(lease_id, { step: 1 });
    const { taskId } = (await waitToClaim()).result;
    site.clock.advance(61_000);
    const first = await site.get(taskId);
    expect(eventOf(first)).toMatchObject({ id, resumed: { parks: 1, state: { step: 1 } } });
    const parked = await park(eventOf(first)?.['lease_id'], { step: 2 });
    expect(parked.status).toBe(200);
    expect(bytesOf(await site.get(taskId))).toBe(bytesOf(first));
  });

  it('claims nothing for a client that has gone', async () => {
    const { taskId } = (await waitToClaim()).result;
    expect(site.people.project.waits.size).toBe(0);
    await site.arrive(hook);
    expect(await site.pending()).toBe(1);
    expect((await site.get(taskId)).result['status']).toBe('completed');
  });

  it('is unknown to other keys, and over a connection that only reads', async () => {
    const { taskId } = (await waitToClaim()).result;
    await site.arrive(hook);
    const other = await site.keyOf('inbox:read', 'inbox:write');
    for (const by of [other, site.reader]) {
      expect((await site.get(taskId, by)).error).toMatchObject({ code: -32602 });
      expect((await site.cancel(taskId, by)).error).toMatchObject({ code: -32602 });
    }
    expect((await site.get('call_eyJ9')).error).toMatchObject({ code: -32602 });
    expect(await site.pending()).toBe(1);
    expect((await site.get(taskId)).result['status']).toBe('completed');
  });

  it('with a wrong filter is refused', async () => {
    expect((await waitToClaim({ since: 'soon' })).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^VALIDATION_FAILED: .*since/) }],
    });
  });

  it('of a key that may not claim is refused', async () => {
    const reader = await site.keyOf('inbox:read');
    expect((await waitToClaim({}, reader)).result).toMatchObject({ isError: true });
  });

  it('that was cancelled claims no more, also where somebody reads it', async () => {
    const { taskId } = (await waitToClaim()).result;
    const held = await site.held(taskId);
    const again = site.cancel(taskId, site.patient);
    expect((await again).error).toBeUndefined();
    expect((await held.answer).result).toMatchObject({ taskId, status: 'cancelled' });
    await site.arrive(hook);
    const task = await site.get(taskId);
    expect(task.result).toMatchObject({ taskId, status: 'cancelled' });
    expect(task.result).not.toHaveProperty('result');
    expect(await site.pending()).toBe(1);
    expect((await site.cancel(taskId)).error).toBeUndefined();
  });

  it('is ended by another process too, and keeps what it had claimed before', async () => {
    const { taskId } = (await waitToClaim()).result;
    // The other server knows nothing of the readings of the first.
    expect((await site.cancel(taskId, site.patient)).error).toBeUndefined();
    expect((await site.get(taskId)).result).toMatchObject({ status: 'cancelled' });
    const next = (await waitToClaim()).result['taskId'];
    await site.arrive(hook);
    const first = await site.get(next);
    expect(eventOf(first)).toMatchObject({ source: 'github' });
    expect((await site.cancel(next, site.patient)).error).toBeUndefined();
    expect(bytesOf(await site.get(next))).toBe(bytesOf(first));
  });

  it('claims nothing after its day', async () => {
    const { taskId } = (await waitToClaim()).result;
    const [prefix, open] = String(taskId).split('_');
    const told = JSON.parse(Buffer.from(open ?? '', 'base64url').toString()) as { at: number };
    const before = Buffer.from(JSON.stringify({ ...told, at: told.at - DAY_MS }));
    const old = `${prefix ?? ''}_${before.toString('base64url')}`;
    await site.arrive(hook);
    const first = await site.get(old);
    expect(first.result['status']).toBe('completed');
    expect(eventOf(first)).toBeNull();
    expect(bytesOf(await site.get(old))).toBe(bytesOf(first));
    expect(await site.pending()).toBe(1);
  });
});

describe('a wait that only reads', () => {
  it('is no task if an event is pending, or if nothing can match', async () => {
    expect((await wait({ source: 'nobody' })).result).toMatchObject({
      resultType: 'complete',
      structuredContent: { event: null, warnings: [expect.stringContaining('nobody')] },
    });
    await site.arrive(hook);
    expect((await wait()).result).toMatchObject({
      resultType: 'complete',
      structuredContent: { event: { source: 'github', status: 'pending' } },
    });
  });

  it('finds the event that came, and reads the same whatever becomes of it', async () => {
    await site.arrive(hook);
    const before = await claimed();
    const reader = await site.keyOf('inbox:read');
    const { result } = await wait({ source: 'github', timeout_seconds: 2 }, reader);
    expect(result).toMatchObject({ resultType: 'task', status: 'working', ttlMs: DAY_MS });
    const { taskId } = result;
    expect((await site.get(taskId, reader)).result['status']).toBe('working');
    const plain = site.agent.modern('tools/call', {
      name: 'inbox_wait',
      arguments: { source: 'github', timeout_seconds: 120 },
    });
    await expect.poll(() => site.people.project.waits.size, { interval: 2 }).toBe(1);
    const id = await site.arrive(hook);
    const first = await site.get(taskId, reader);
    expect(eventOf(first)).toMatchObject({ id, status: 'pending', attempts: 0 });
    expect(eventOf(first)).not.toHaveProperty('lease_id');
    const { structuredContent } = (await plain).result;
    expect(JSON.stringify(structured(first))).toBe(JSON.stringify(structuredContent));
    expect(await site.pending()).toBe(1);
    const { lease_id } = await claimed();
    await site.arrive(hook);
    expect(bytesOf(await site.get(taskId, reader))).toBe(bytesOf(first));
    const nack = { event_id: id, lease_id, reason: 'not now' };
    await site.test.call('POST', '/v1/inbox/nack', { body: nack });
    expect(bytesOf(await site.get(taskId, reader))).toBe(bytesOf(first));
    site.clock.advance(60_000);
    const again = await claimed();
    expect(again.id).toBe(id);
    await site.test.call('POST', '/v1/inbox/ack', {
      body: { event_id: id, lease_id: again.lease_id, result: 'done' },
    });
    expect(bytesOf(await site.get(taskId, reader))).toBe(bytesOf(first));
    expect(before.id).not.toBe(id);
  });

  it('finds an event that somebody else took before the first reading', async () => {
    const { taskId } = (await wait()).result;
    const id = await site.arrive(hook);
    expect((await claimed()).id).toBe(id);
    expect(eventOf(await site.get(taskId))).toMatchObject({ id, status: 'pending' });
  });

  it('finds an older event that was given back', async () => {
    await site.arrive(hook);
    const { id, lease_id } = await claimed();
    const { taskId } = (await wait()).result;
    const body = { event_id: id, lease_id, reason: 'not now' };
    await site.test.call('POST', '/v1/inbox/nack', { body });
    site.clock.advance(60_000);
    expect(eventOf(await site.get(taskId))).toMatchObject({ id, status: 'pending' });
  });

  it('passes over what never waited for anybody', async () => {
    const { taskId } = (await wait()).result;
    await site.people.setPolicy({ id: 'all', effect: 'auto_approve', action: '*' });
    await claimed();
    const ended = await wait({ type: 'request.resolved' });
    await site.call('ask_approval', { action: 'pr.merge', summary: 'Merge #7' });
    expect((await site.get(ended.result['taskId'])).result['status']).toBe('working');
    expect((await site.get(taskId)).result['status']).toBe('completed');
  });

  it('ends a held tasks/get with the event, and with its cancelling', async () => {
    const { taskId } = (await wait()).result;
    const held = await site.held(taskId);
    const id = await site.arrive(hook);
    expect(eventOf(await held.answer)).toMatchObject({ id });
    await claimed();
    const next = (await wait()).result['taskId'];
    const reading = await site.held(next);
    expect((await site.cancel(next, site.patient)).error).toBeUndefined();
    expect((await reading.answer).result).toMatchObject({ status: 'cancelled' });
    await site.arrive(hook);
    expect((await site.get(next, site.patient)).result).toMatchObject({ status: 'cancelled' });
  });

  it('over a connection that only reads is answered as ever', async () => {
    await site.arrive(hook);
    expect((await wait({}, site.reader)).result).toMatchObject({
      resultType: 'complete',
      structuredContent: { event: { source: 'github' } },
    });
  });
});

describe('whoever listens for a wait', () => {
  it.each([true, false])(
    'hears that an event is there to read, without it: claim %s',
    async (claim) => {
      const { taskId } = (await wait({ claim, source: 'github' })).result;
      const other = await site.test.addSource({ name: 'other' });
      const listener = await site.agent.listen({ taskIds: [taskId] }, 7, DECLARED);
      expect(listener.heard[0]).toMatchObject({
        params: { notifications: { taskIds: [taskId] } },
      });
      await site.arrive(other);
      const id = await site.arrive(hook);
      const told = await listener.next(1);
      expect(told).toMatchObject({
        method: 'notifications/tasks',
        params: { taskId, status: 'working', statusMessage: 'tasks/get has the answer.' },
      });
      expect(JSON.stringify(told)).not.toContain(id);
      expect(await site.pending()).toBe(2);
      expect(eventOf(await site.get(taskId))).toMatchObject({ id });
      expect(listener.heard).toHaveLength(2);
      await listener.leave();
    },
  );

  it('hears at once of what was there before', async () => {
    const { taskId } = (await waitToClaim()).result;
    await site.arrive(hook);
    const listener = await site.agent.listen({ taskIds: [taskId] }, 7, DECLARED);
    expect(await listener.next(1)).toMatchObject({ params: { taskId, status: 'working' } });
    await listener.leave();
  });

  it('hears of the next event, if another was faster', async () => {
    const { taskId } = (await waitToClaim()).result;
    const listener = await site.agent.listen({ taskIds: [taskId] }, 7, DECLARED);
    await site.arrive(hook);
    await listener.next(1);
    await claimed();
    expect((await site.get(taskId)).result['status']).toBe('working');
    const id = await site.arrive(hook);
    await listener.next(2);
    expect(eventOf(await site.get(taskId))).toMatchObject({ id });
    await listener.leave();
  });

  it('hears nothing of the waits of other keys', async () => {
    const { taskId } = (await waitToClaim()).result;
    const other = await site.keyOf('inbox:read', 'inbox:write');
    const listener = await other.listen({ taskIds: [taskId] }, 7, DECLARED);
    expect(JSON.stringify(listener.heard)).not.toContain(taskId);
    await listener.leave();
  });
});
