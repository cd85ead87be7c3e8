import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Choice } from '../../../../gateway/lib/approvals.ts';
import { TestPeople } from '../../../gateway/approvals/people.ts';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { Agent } from './agent.ts';
import { META } from './wire.ts';

const EXTENSION = 'io.modelcontextprotocol/tasks';
const DECLARED = {
  ...META,
  'io.modelcontextprotocol/clientCapabilities': { extensions: { [EXTENSION]: {} } },
};

let test: TestGateway;
let people: TestPeople;
let clock: FakeClock;
let agent: Agent;
beforeEach(async () => {
  clock = new FakeClock(Date.now());
  test = await TestGateway.start({ clock });
  people = await TestPeople.of(test, clock);
  agent = new Agent(test.url, test.apiKey);
});
afterEach(() => test.stop());

const declaring = (method: string, params: object, by = agent) =>
  by.modern(method, { _meta: DECLARED, ...params });
const ask = (input: object = {}, by = agent) =>
  call('ask_approval', { action: 'pr.merge', summary: 'Merge #7', ...input }, by);
const call = (name: string, input: object, by = agent) =>
  declaring('tools/call', { name, arguments: input }, by);
const wait = (input: object = {}, by = agent) => call('inbox_wait', { claim: true, ...input }, by);
const get = (taskId: unknown, by = agent) => declaring('tasks/get', { taskId }, by);

async function decide(id: unknown, choice: Choice): Promise<void> {
  const token = await people.link(String(id));
  expect((await test.gateway.approvals.decide(token, choice))?.outcome).toBe('taken');
}

async function keyOf(scopes: string[]): Promise<Agent> {
  const body = { name: scopes.join(), scopes };
  const made = await test.call<{ api_key: string }>('POST', '/v1/keys', { body });
  return new Agent(test.url, made.body.api_key);
}

const given = ({ result }: Awaited<ReturnType<typeof ask>>) =>
  JSON.stringify((result['result'] as Record<string, unknown>)['structuredContent']);

describe('a question of a client that takes tasks', () => {
  it('is a task at once, however long the client would wait', async () => {
    const { result } = await ask({ wait_seconds: 120 });
    expect(result).toMatchObject({
      resultType: 'task',
      taskId: expect.stringMatching(/^req_/),
      status: 'working',
      ttlMs: 86_400_000,
      pollIntervalMs: 1000,
    });
    expect(result).not.toHaveProperty('content');
    expect(await people.status(String(result['taskId']))).toMatchObject({ status: 'pending' });
  });

  it('of another client is answered as ever', async () => {
    const { result } = await agent.modern('tools/call', {
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
      `{"request_id":"REQ","status":"pending","decision":null,"comment":null,"hint":"Not decided yet. This isn't a denial. Save your state with state_save, then call request_status with this request_id.","decided_by":null,"state_ref":null,"expires_at":"AT","poll_after_seconds":30}`,
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
    const plain = await agent.modern('tools/list');
    expect(JSON.stringify((await declaring('tools/list', {})).result)).toBe(
      JSON.stringify(plain.result),
    );
  });

  it('with a wrong wait_seconds is refused', async () => {
    const { result } = await ask({ wait_seconds: 'long' });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^VALIDATION_FAILED: .*wait_seconds/) }],
    });
  });

  it('is asked after less often the longer it is open', async () => {
    const paces = [];
    for (const ageMs of [0, 61_000, 3_601_000]) {
      clock.advance(-ageMs);
      paces.push((await ask({ action: `after.${ageMs}` })).result['pollIntervalMs']);
    }
    expect(paces).toEqual([1_000, 5_000, 30_000]);
  });

  it('ends a held tasks/get with the decision, and reads the same ever after', async () => {
    const { result: created } = await ask({ bind: { number: 7, total: 129.5 } });
    const { taskId } = created;
    const held = get(taskId);
    await expect.poll(() => people.project.waits.size, { interval: 2 }).toBe(1);
    await decide(taskId, { verb: 'approve', comment: 'Go on.' });
    const ended = await held;
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
    expect(people.project.waits.size).toBe(0);
    expect((await get(taskId)).result).toEqual(ended.result);
    expect(given(await get(taskId))).toBe(given(ended));
  });

  it('that nobody or everybody refused is completed, so that the model reads it', async () => {
    const denied = (await ask()).result['taskId'];
    await decide(denied, { verb: 'deny', comment: 'Not today.' });
    expect((await get(denied)).result).toMatchObject({
      status: 'completed',
      result: {
        structuredContent: {
          status: 'denied',
          comment: 'Not today.',
          hint: '"Merge #7" was denied: don\'t do it.',
        },
      },
    });
    const late = (await ask({ action: 'pr.close' })).result['taskId'];
    clock.advance(86_400_000);
    expect((await get(late)).result).toMatchObject({
      status: 'completed',
      result: { structuredContent: { status: 'expired' } },
    });
  });

  it('is withdrawn with its task', async () => {
    const { taskId } = (await ask()).result;
    const held = get(taskId);
    await expect.poll(() => people.project.waits.size, { interval: 2 }).toBe(1);
    expect((await declaring('tasks/cancel', { taskId })).result).toMatchObject({
      resultType: 'complete',
    });
    expect((await held).result).toMatchObject({ taskId, status: 'cancelled' });
    expect((await held).result).not.toHaveProperty('result');
    expect(await people.status(String(taskId))).toMatchObject({
      status: 'expired',
      hint: 'withdrawn: the agent cancelled its task.',
    });
    const again = await declaring('tasks/cancel', { taskId });
    expect(again.error).toBeUndefined();
  });

  it('that a policy or another call has answered is no task', async () => {
    const body = { question: 'Where?', options: ['here', 'there'] };
    const { result } = await declaring('tools/call', { name: 'ask_human', arguments: body });
    await decide(result['taskId'], { verb: 'option', index: 0 });
    expect((await get(result['taskId'])).result).toMatchObject({
      result: { structuredContent: { status: 'answered', decision: 'here' } },
    });
    const failed = await ask({ risk: 'high' });
    expect(failed.result).toMatchObject({ resultType: 'complete', isError: true });
  });

  it('about an event that is parked on it is no task', async () => {
    await test.deliver(await test.addSource({ name: 'github' }), '{"type":"pull_request"}');
    const claimed = await test.call<{ items: { id: string; lease_id: string }[] }>(
      'POST',
      '/v1/inbox/next',
      { body: { timeout_seconds: 1 } },
    );
    const [{ id, lease_id } = { id: '', lease_id: '' }] = claimed.body.items;
    const { result } = await ask({ event_id: id, lease_id, park: true });
    expect(result).toMatchObject({ resultType: 'complete', structuredContent: { parked: true } });
  });
});

const structured = (answer: Awaited<ReturnType<typeof ask>>) =>
  (answer.result['result'] as { structuredContent: Record<string, unknown> }).structuredContent;

describe('other calls that ask people', () => {
  it('a proposed policy is a task that says whether it is in force', async () => {
    const rules = [{ id: 'small', effect: 'auto_approve', action: 'pay.*', amount_lte: 10 }];
    const { taskId } = (await call('policy_set', { policy: { rules } })).result;
    expect(taskId).toMatch(/^req_/);
    await decide(taskId, { verb: 'approve' });
    expect(structured(await get(taskId))).toMatchObject({
      status: 'approved',
      hint: 'The new policy is in force.',
      warnings: [],
    });
    const shadowed = [...rules, { ...rules[0], id: 'never' }];
    const warned = await call('policy_set', { policy: { rules: shadowed } });
    expect(warned.result).toMatchObject({
      resultType: 'complete',
      structuredContent: { status: 'pending', warnings: [{ rule: 'never' }] },
    });
  });

  it('a public link is made once, by the first reading after the decision', async () => {
    expect(
      (await call('file_put', { path: 'may.txt', content_base64: 'TWF5' })).result,
    ).toMatchObject({ isError: false });
    const { taskId } = (await call('file_url', { path: 'may.txt', wait_seconds: 120 })).result;
    const open = await test.call<{ items: { request_id: string }[] }>('GET', '/v1/requests');
    await decide(open.body.items[0]?.request_id, { verb: 'approve' });
    const first = await get(taskId);
    expect(structured(first)).toMatchObject({
      url: expect.any(String),
      link_id: expect.any(String),
    });
    expect(JSON.stringify((await get(taskId)).result)).toBe(JSON.stringify(first.result));
    const other = await keyOf(['disk', 'approvals']);
    expect((await get(taskId, other)).error).toMatchObject({ code: -32602 });
  });
});

async function pending(): Promise<number> {
  return (await test.call<{ items: object[] }>('GET', '/v1/inbox?status=pending')).body.items
    .length;
}

describe('a wait for an event', () => {
  let hook: string;
  beforeEach(async () => {
    hook = await test.addSource({ name: 'github' });
  });
  let arrivals = 0;
  // The same body twice would be one event.
  const arrive = () => test.deliver(hook, JSON.stringify({ number: (arrivals += 1) }));

  it('is no task if one is pending', async () => {
    await arrive();
    expect((await wait()).result).toMatchObject({
      resultType: 'complete',
      structuredContent: { event: { source: 'github', lease_id: expect.any(String) } },
    });
  });

  it('claims it once, at the first reading, and reads the same ever after', async () => {
    const { result } = await wait({ source: 'github', timeout_seconds: 2 });
    expect(result).toMatchObject({ resultType: 'task', status: 'working', ttlMs: 86_400_000 });
    const held = get(result['taskId']);
    await expect.poll(() => people.project.waits.size, { interval: 2 }).toBe(1);
    await arrive();
    const first = await held;
    expect(first.result).toMatchObject({
      status: 'completed',
      result: { structuredContent: { event: { source: 'github', lease_id: expect.any(String) } } },
    });
    await arrive();
    const again = await get(result['taskId']);
    expect(JSON.stringify(again.result)).toBe(JSON.stringify(first.result));
    expect(await pending()).toBe(1);
  });

  it('claims nothing for a client that has gone', async () => {
    const { taskId } = (await wait()).result;
    expect(people.project.waits.size).toBe(0);
    await arrive();
    expect(await pending()).toBe(1);
    expect((await get(taskId)).result['status']).toBe('completed');
  });

  it('is unknown to other keys, and told to nobody', async () => {
    const { taskId } = (await wait()).result;
    const other = await keyOf(['inbox:read', 'inbox:write']);
    expect((await get(taskId, other)).error).toMatchObject({ code: -32602 });
    expect((await get('call_eyJ9')).error).toMatchObject({ code: -32602 });
    expect((await declaring('tasks/cancel', { taskId })).error).toBeUndefined();
    const listener = await agent.listen({ taskIds: [taskId] }, 7, DECLARED);
    expect(JSON.stringify(listener.heard)).not.toContain(taskId);
    await listener.leave();
  });

  it('with a wrong filter is refused', async () => {
    expect((await wait({ since: 'soon' })).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^VALIDATION_FAILED: .*since/) }],
    });
  });

  it('of a key that may not claim is refused', async () => {
    const reader = await keyOf(['inbox:read']);
    expect((await wait({}, reader)).result).toMatchObject({ isError: true });
  });
});

describe('a task', () => {
  it('is read by every key of the project that may ask, and unknown to all others', async () => {
    const { taskId } = (await ask()).result;
    const unknown = await get('req_01j9z3k4m5n6p7q8r9s0t1v2w3');
    expect(unknown.error).toMatchObject({ code: -32602 });
    await decide(taskId, { verb: 'approve' });
    expect((await get(taskId, await keyOf(['approvals']))).result['status']).toBe('completed');
    for (const id of [taskId, 'req_01j9z3k4m5n6p7q8r9s0t1v2w3', 'nothing', '']) {
      const { error } = await get(id, await keyOf(['disk']));
      expect(error).toMatchObject({
        code: -32602,
        message: expect.stringMatching(/^Unknown task/),
      });
    }
    expect((await get(7)).error).toMatchObject({ code: -32602 });
  });

  it('is for clients that declare the extension, which the server names', async () => {
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const { error } = await agent.modern(method, { taskId: 'req_x' });
      expect(error).toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { extensions: { [EXTENSION]: {} } } },
      });
    }
    const { result } = await agent.modern('server/discover');
    expect(result['capabilities']).toMatchObject({ extensions: { [EXTENSION]: {} } });
  });

  it('is told to whoever listens, once, also if it ended before', async () => {
    const [first, second] = [(await ask()).result, (await ask({ action: 'b' })).result];
    const ids = [first['taskId'], second['taskId']];
    await decide(ids[0], { verb: 'approve' });
    const listener = await agent.listen({ taskIds: [...ids, 'req_none'] }, 7, DECLARED);
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
    await decide(ids[1], { verb: 'deny' });
    expect(await listener.next(2)).toMatchObject({ params: { taskId: ids[1] } });
    await listener.leave();
    expect(listener.heard).toHaveLength(3);
  });

  it('is unknown to a client that may only read, because it could not ask', async () => {
    const { taskId } = (await ask()).result;
    const reader = new Agent(test.url, test.apiKey, '/mcp/readonly');
    expect((await get(taskId, reader)).error).toMatchObject({ code: -32602 });
    expect((await declaring('tasks/cancel', { taskId }, reader)).error).toBeDefined();
    expect(await people.status(String(taskId))).toMatchObject({ status: 'pending' });
  });
});
