import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Executor } from '../../../../shared/kernel/executor.ts';
import { ServiceError } from '../../../../shared/lib/errors.ts';
import { operations } from '../../../../shared/operations/index.ts';
import { Agent } from './agent.ts';
import { serveMcp } from './fake.ts';
import { bytesOf, DECLARED, EXTENSION, TaskSite } from './task-site.ts';

let site: TaskSite;
beforeEach(async () => {
  site = await TaskSite.start();
});
afterEach(() => site.stop());

describe('a question of a client that takes tasks', () => {
  it('is a task at once, however long the client would wait', async () => {
    const { result } = await site.ask({ wait_seconds: 120 });
    expect(result).toMatchObject({
      resultType: 'task',
      taskId: expect.stringMatching(/^req_/),
      status: 'working',
      ttlMs: 86_400_000,
      pollIntervalMs: 1000,
    });
    expect(result).not.toHaveProperty('content');
    expect(await site.people.status(String(result['taskId']))).toMatchObject({ status: 'pending' });
  });

  it('of another client is answered as ever', async () => {
    const { result } = await site.agent.modern('tools/call', {
      name: 'ask_approval',
      arguments: { action: 'pr.merge', summary: 'Merge #7', wait_seconds: 0 },
    });
    expect(result).toMatchObject({
      resultType: 'complete',
      structuredContent: { status: 'pending', poll_after_seconds: 30 },
    });
    expect(result).not.toHaveProperty('taskId');
    const { request_id: id, expires_at: at } = result['structuredContent'] as Record<
      string,
      string
    >;
    const text = JSON.stringify(result['structuredContent']);
    expect(text.replace(String(id), 'REQ').replace(String(at), 'AT')).toBe(
      `{"request_id":"REQ","status":"pending","decision":null,"comment":null,"hint":"Not decided yet. This isn't a denial. Save your state with state_save, then call request_status with this request_id.","reason":null,"decided_by":null,"state_ref":null,"expires_at":"AT","poll_after_seconds":30}`,
    );
    expect(Object.keys(result)).toEqual([
      '_meta',
      'content',
      'structuredContent',
      'isError',
      'resultType',
    ]);
  });

  it('sees the same tools as another client', async () => {
    const plain = await site.agent.modern('tools/list');
    expect(JSON.stringify((await site.declaring('tools/list', {})).result)).toBe(
      JSON.stringify(plain.result),
    );
  });

  it('with a wrong wait_seconds is refused', async () => {
    const { result } = await site.ask({ wait_seconds: 'long' });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^VALIDATION_FAILED: .*wait_seconds/) }],
    });
  });

  it('is asked after less often the longer it is open', async () => {
    const paces = [];
    for (const ageMs of [0, 61_000, 3_601_000]) {
      site.clock.advance(-ageMs);
      paces.push((await site.ask({ action: `after.${ageMs}` })).result['pollIntervalMs']);
    }
    expect(paces).toEqual([1_000, 5_000, 30_000]);
  });

  it('ends a held tasks/get with the decision, and reads the same ever after', async () => {
    const { result: created } = await site.ask({ bind: { number: 7, total: 129.5 } });
    const { taskId } = created;
    const held = await site.held(taskId);
    await site.decide(taskId, { verb: 'approve', comment: 'Go on.' });
    const ended = await held.answer;
    expect(ended.result).toMatchObject({
      resultType: 'complete',
      taskId,
      status: 'completed',
      result: {
        isError: false,
        structuredContent: {
          request_id: taskId,
          status: 'approved',
          comment: 'Go on.',
          hint: '"Merge #7" was approved: do it now, with exactly these values: {"number":7,"total":129.5}.',
          poll_after_seconds: null,
        },
      },
    });
    expect(site.people.project.waits.size).toBe(0);
    expect((await site.get(taskId, site.patient)).result).toEqual(ended.result);
    expect(bytesOf(await site.get(taskId))).toBe(bytesOf(ended));
  });

  it('that nobody or everybody refused is completed, so that the model reads it', async () => {
    const denied = (await site.ask()).result['taskId'];
    await site.decide(denied, { verb: 'deny', comment: 'Not today.' });
    expect((await site.get(denied)).result).toMatchObject({
      status: 'completed',
      result: {
        structuredContent: {
          status: 'denied',
          comment: 'Not today.',
          hint: '"Merge #7" was denied: don\'t do it.',
        },
      },
    });
    const late = (await site.ask({ action: 'pr.close' })).result['taskId'];
    site.clock.advance(86_400_000);
    expect((await site.get(late)).result).toMatchObject({
      status: 'completed',
      result: { structuredContent: { status: 'expired' } },
    });
  });

  it('has the same result after its decision came too late', async () => {
    for (const choice of [
      { verb: 'approve' },
      { verb: 'needs_context', comment: 'Why?' },
    ] as const) {
      const { taskId } = (await site.ask({ action: choice.verb })).result;
      await site.decide(taskId, choice);
      const before = bytesOf(await site.get(taskId));
      const path = `/v1/requests/${String(taskId)}/received`;
      await site.test.call('POST', path, { body: { unused: 'it was done by hand.' } });
      expect(await site.people.status(String(taskId))).toMatchObject({
        hint: 'unused: it was done by hand.',
      });
      expect(bytesOf(await site.get(taskId))).toBe(before);
    }
  });

  it('is a task before the copy that answers has its request', async () => {
    const { executor } = site.test.gateway;
    let isBehind = true;
    const copy: Executor = {
      authenticate: (given) => executor.authenticate(given),
      meter: (...given) => executor.meter(...given),
      follow: (...given) => executor.follow(...given),
      execute: (operation, ...call) => {
        if (!isBehind || operation.name !== 'request_status') {
          return executor.execute(operation, ...call);
        }
        const headers = { 'X-Service-Stale': 'true' };
        return Promise.reject(new ServiceError('NOT_FOUND', { headers }));
      },
    };
    const served = await serveMcp(copy, operations);
    const agent = new Agent(served.url.origin, site.test.apiKey);
    const { taskId, ...asked } = (await site.ask({ action: 'copy' }, agent)).result;
    expect(asked).toMatchObject({ resultType: 'task', status: 'working' });
    expect((await site.get(taskId, agent)).result).toMatchObject({ taskId, status: 'working' });
    await site.decide(taskId, { verb: 'approve' });
    isBehind = false;
    expect((await site.get(taskId, agent)).result).toMatchObject({ status: 'completed' });
    await served.close();
  });

  it('is withdrawn with its task', async () => {
    const { taskId } = (await site.ask()).result;
    const held = await site.held(taskId);
    expect((await site.declaring('tasks/cancel', { taskId })).result).toMatchObject({
      resultType: 'complete',
    });
    expect((await held.answer).result).toMatchObject({ taskId, status: 'cancelled' });
    expect((await held.answer).result).not.toHaveProperty('result');
    expect(await site.people.status(String(taskId))).toMatchObject({
      status: 'expired',
      hint: 'withdrawn: the agent cancelled its task.',
    });
    const again = await site.declaring('tasks/cancel', { taskId });
    expect(again.error).toBeUndefined();
  });

  it('that a policy or another call has answered is no task', async () => {
    const body = { question: 'Where?', options: ['here', 'there'] };
    const { result } = await site.declaring('tools/call', { name: 'ask_human', arguments: body });
    await site.decide(result['taskId'], { verb: 'option', index: 0 });
    expect((await site.get(result['taskId'])).result).toMatchObject({
      result: { structuredContent: { status: 'answered', decision: 'here' } },
    });
    const failed = await site.ask({ risk: 'high' });
    expect(failed.result).toMatchObject({ resultType: 'complete', isError: true });
  });

  it('about an event that is parked on it is no task', async () => {
    await site.test.deliver(
      await site.test.addSource({ name: 'github' }),
      '{"type":"pull_request"}',
    );
    const claimed = await site.test.call<{ items: { id: string; lease_id: string }[] }>(
      'POST',
      '/v1/inbox/next',
      { body: { timeout_seconds: 1 } },
    );
    const [{ id, lease_id } = { id: '', lease_id: '' }] = claimed.body.items;
    const { result } = await site.ask({ event_id: id, lease_id, park: true });
    expect(result).toMatchObject({ resultType: 'complete', structuredContent: { parked: true } });
  });
});

describe('a task', () => {
  it('is read by every key of the project that may ask, and unknown to all others', async () => {
    const { taskId } = (await site.ask()).result;
    const unknown = await site.get('req_01j9z3k4m5n6p7q8r9s0t1v2w3');
    expect(unknown.error).toMatchObject({ code: -32602 });
    await site.decide(taskId, { verb: 'approve' });
    expect((await site.get(taskId, await site.keyOf('approvals'))).result['status']).toBe(
      'completed',
    );
    for (const id of [taskId, 'req_01j9z3k4m5n6p7q8r9s0t1v2w3', 'nothing', '']) {
      const { error } = await site.get(id, await site.keyOf('disk'));
      expect(error).toMatchObject({
        code: -32602,
        message: expect.stringMatching(/^Unknown task/),
      });
    }
    expect((await site.get(7)).error).toMatchObject({ code: -32602 });
  });

  it('is for clients that declare the extension, which the server names', async () => {
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const { error } = await site.agent.modern(method, { taskId: 'req_x' });
      expect(error).toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { extensions: { [EXTENSION]: {} } } },
      });
    }
    const { result } = await site.agent.modern('server/discover');
    expect(result['capabilities']).toMatchObject({ extensions: { [EXTENSION]: {} } });
  });

  it('is told to whoever listens, once, also if it ended before', async () => {
    const [first, second] = [(await site.ask()).result, (await site.ask({ action: 'b' })).result];
    const ids = [first['taskId'], second['taskId']];
    await site.decide(ids[0], { verb: 'approve' });
    const listener = await site.agent.listen({ taskIds: [...ids, 'req_none'] }, 7, DECLARED);
    expect(listener.heard[0]).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { taskIds: ids } },
    });
    const told = await listener.next(1);
    expect(told).toMatchObject({
      method: 'notifications/tasks',
      params: {
        _meta: { 'io.modelcontextprotocol/subscriptionId': 7 },
        taskId: ids[0],
        status: 'completed',
        result: { structuredContent: { status: 'approved' } },
      },
    });
    await site.decide(ids[1], { verb: 'deny' });
    expect(await listener.next(2)).toMatchObject({ params: { taskId: ids[1] } });
    await listener.leave();
    expect(listener.heard).toHaveLength(3);
  });

  it('is unknown to a client that may only read, because it could not ask', async () => {
    const { taskId } = (await site.ask()).result;
    const reader = new Agent(site.test.url, site.test.apiKey, '/mcp/readonly');
    expect((await site.get(taskId, reader)).error).toMatchObject({ code: -32602 });
    expect((await site.declaring('tasks/cancel', { taskId }, reader)).error).toBeDefined();
    expect(await site.people.status(String(taskId))).toMatchObject({ status: 'pending' });
  });
});
