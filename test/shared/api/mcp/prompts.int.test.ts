import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../../helpers/gateway.ts';
import { Agent } from './agent.ts';

let gateway: TestGateway;
let agent: Agent;

beforeAll(async () => {
  gateway = await TestGateway.start();
  agent = new Agent(gateway.url, gateway.apiKey);
});
afterAll(() => gateway.stop());

const keep = (key: string, value: unknown) =>
  gateway.call('PUT', `/v1/kv/${encodeURIComponent(key)}`, { body: value });

async function names(by: Agent): Promise<string[]> {
  const { result } = await by.modern('prompts/list');
  return (result['prompts'] as { name: string }[]).map(({ name }) => name);
}

describe('prompts', () => {
  it('are those that the scopes of the key are for', async () => {
    expect(await names(agent)).toEqual(['work_inbox', 'resume_task', 'ask_first']);
    const ofDisk = new Agent(gateway.url, await gateway.key('disk'));
    expect(await names(ofDisk)).toEqual(['resume_task']);
    expect(await ofDisk.modern('prompts/get', { name: 'work_inbox' })).toMatchObject({
      error: { code: -32_602, message: 'Unknown prompt: work_inbox' },
    });
  });

  it('come with what was given in them, quoted', async () => {
    const given = { name: 'resume_task', arguments: { task_id: 'a"\nb' } };
    const { result } = await agent.modern('prompts/get', given);
    expect(result['messages']).toMatchObject([
      { role: 'user', content: { type: 'text', text: expect.stringContaining('"a\\"\\nb"') } },
    ]);
    const { result: plain } = await agent.legacy('prompts/get', { name: 'work_inbox' });
    expect(Object.keys(plain)).toEqual(['description', 'messages']);
  });

  it.each([
    [{ name: 'resume_task' }, 'Invalid params: arguments lack task_id'],
    [{ name: 'resume_task', arguments: { task_id: 7 } }, 'Invalid params: arguments must be texts'],
    [{ name: 'nonsense' }, 'Unknown prompt: nonsense'],
    [{}, 'Unknown prompt: undefined'],
  ])('refuse %j', async (params, message) => {
    expect((await agent.legacy('prompts/get', params)).error).toEqual({ code: -32_602, message });
  });
});

const template = (uri: string) => ({ type: 'ref/resource', uri });
const only = (values: readonly string[]) => ({ values, hasMore: false });

async function complete(ref: object, argument: object, by = agent): Promise<unknown> {
  const { result, error } = await by.modern('completion/complete', { ref, argument });
  return error ?? result['completion'];
}

function completeIn(uri: string, name: string, value: string): Promise<unknown> {
  return complete(template(uri), { name, value });
}

describe('completion/complete', () => {
  it('knows the paths, keys and events that begin so, and the tasks', async () => {
    await gateway.call('PUT', '/v1/files/typed%2Fone.txt', { body: {} });
    await keep('typed/two', 2);
    await gateway.call('PUT', '/v1/state/typed-task', { body: { state: 1 } });
    const hook = await gateway.addSource({ name: 'shop' });
    const { body } = await gateway.deliver(hook, '{"type":"order"}');
    const id = String(body['event_id']);
    expect(await completeIn('disk://{+path}', 'path', 'typed/')).toEqual(only(['typed/one.txt']));
    expect(await completeIn('kv://{+key}', 'key', 'typed/')).toEqual(only(['typed/two']));
    expect(await completeIn('inbox://{event_id}', 'event_id', id)).toEqual(only([id]));
    expect(await completeIn('kv://{+key}', 'key', '\n')).toEqual(only([]));
    const prompt = { type: 'ref/prompt', name: 'resume_task' };
    const tasks = await complete(prompt, { name: 'task_id', value: 'typed' });
    expect(tasks).toEqual(only(['typed-task']));
    const inbox = { type: 'ref/prompt', name: 'work_inbox' };
    expect(await complete(inbox, { name: 'type', value: 'a' })).toEqual(only([]));
  });

  it('says that there are more than a hundred', async () => {
    const keys = Array.from({ length: 101 }, (_, n) => `hundred/${n}`);
    await Promise.all(keys.map((key) => keep(key, 1)));
    const found = await complete(template('kv://{+key}'), { name: 'key', value: 'hundred/' });
    expect(found).toEqual({ values: keys.toSorted().slice(0, 100), hasMore: true });
  });

  it.each([
    [
      { type: 'ref/resource', uri: 'kv://{+key}' },
      { name: 'path', value: '' },
    ],
    [
      { type: 'ref/resource', uri: 'file:///{path}' },
      { name: 'path', value: '' },
    ],
    [
      { type: 'ref/prompt', name: 'nonsense' },
      { name: 'task_id', value: '' },
    ],
    [
      { type: 'ref/prompt', name: 'resume_task' },
      { name: 'other', value: '' },
    ],
    [{ type: 'ref/prompt', name: 'resume_task' }, { name: 'task_id' }],
    [{ type: 'ref/prompt', name: 'resume_task' }, 7],
    [7, { name: 'task_id', value: '' }],
  ])('refuses %j with %j', async (ref, argument) => {
    expect(await complete(ref as object, argument as object)).toMatchObject({ code: -32_602 });
  });

  it('tells a key nothing beyond its scopes', async () => {
    const ofInbox = new Agent(gateway.url, await gateway.key('inbox:read'));
    for (const [ref, name] of [
      [template('kv://{+key}'), 'key'],
      [{ type: 'ref/prompt', name: 'resume_task' }, 'task_id'],
    ] as const) {
      const refused = await complete(ref, { name, value: '' }, ofInbox);
      expect(refused).toMatchObject({ code: -32_602 });
    }
  });
});
