import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
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

interface Result {
  readonly content: readonly { readonly text: string }[];
  readonly isError: boolean;
  readonly structuredContent?: Record<string, unknown>;
}

/** Calls a tool with arguments as a client sends them. */
async function call(name: string, args?: unknown): Promise<Result> {
  const { result, error } = await agent.legacy('tools/call', { name, arguments: args });
  if (error) throw new Error(error.message);
  return result as unknown as Result;
}

/** What a call answered, or the text of its refusal. */
async function answer(name: string, args?: unknown): Promise<unknown> {
  const { isError, content, structuredContent } = await call(name, args);
  return isError ? content[0]?.text : structuredContent;
}

async function stored(key: string): Promise<unknown> {
  const { content } = await call('kv_get', { key });
  return (JSON.parse(content[0]?.text ?? '') as { value: unknown }).value;
}

describe('arguments as text', () => {
  it.each<[string, Record<string, unknown>, object]>([
    ['inbox_list', { limit: '5' }, { items: [] }],
    ['inbox_list', { brief: 'true', mine: 'False' }, { items: [] }],
    ['inbox_wait', { timeout_seconds: '1', claim: 'false' }, { event: null }],
    ['ledger_query', { limit: '1', cursor: ' 3 ' }, { items: [{ seq: 2 }] }],
    [
      'ask_approval',
      {
        action: 'a.b',
        summary: 's',
        options: '["tonight","later"]',
        amount: '12.5',
        wait_seconds: '0',
      },
      { status: 'pending' },
    ],
    ['policy_set', { policy: '{"rules":[]}', wait_seconds: '0' }, { status: 'pending' }],
    ['file_put', { path: 'up', upload: '{"size":"5"}' }, { status: 'uploading' }],
    [
      'file_put',
      { path: 'up', upload: { size: '5', content_type: null } },
      { status: 'uploading' },
    ],
  ])('are read as the schema wants: %s %j', async (name, args, wanted) => {
    expect(await answer(name, args)).toMatchObject(wanted);
  });

  it('is text where text is taken', async () => {
    for (const value of ['5', 'true', 'null', '[1]', '{"a":1}']) {
      await call('kv_set', { key: 'k', value });
      expect(await stored('k')).toBe(value);
    }
    await call('state_save', { task_id: '5', state: '[1]', note: 'null' });
    const { content } = await call('state_load', { task_id: '5' });
    expect(JSON.parse(content[0]?.text ?? '')).toMatchObject({ state: '[1]', note: 'null' });
  });

  it('keeps numbers exact', async () => {
    const limit =
      'VALIDATION_FAILED: The request is invalid. limit: The number has too many digits to be exact. Fix the listed fields.';
    expect(await answer('inbox_list', { limit: '1234567890123456789' })).toBe(limit);
    expect(await answer('inbox_list', { limit: '5.0' })).toMatchObject({ items: [] });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['inbox_list', { limit: 'many' }, 'limit: Must be a number.'],
    ['inbox_list', { limit: '' }, 'limit: Must be a number.'],
    ['inbox_list', { limit: '[5]' }, 'limit: Must be a number.'],
    ['inbox_list', { brief: 'yes' }, 'brief: Must be true or false.'],
    ['inbox_list', { limit: '5', statsu: '1' }, 'statsu: Unknown field. Did you mean `status`?'],
    ['ask_human', { question: 'q', options: '["a"' }, 'options: Must be a list.'],
    ['ask_human', { question: 5 }, 'question: Must be a string.'],
    ['kv_set', JSON.parse('{"key":"k","value":1,"__proto__":"5"}'), '__proto__: Unknown field.'],
  ])('that cannot be read is refused by name: %s %j', async (name, args, words) => {
    expect(await answer(name, args)).toContain(words);
  });
});

describe('null', () => {
  it('stands for an optional argument that is left out', async () => {
    const nothing = { source: null, type: null, since: null, limit: null, cursor: null };
    expect(await answer('inbox_list', nothing)).toEqual({ items: [], next_cursor: null });
    const asked = { question: 'q', options: null, approvers: 'null', wait_seconds: 0 };
    expect(await answer('ask_human', asked)).toMatchObject({ status: 'pending' });
  });

  it('is a value where any JSON is taken', async () => {
    await call('kv_set', { key: 'n', value: 1 });
    await call('kv_set', { key: 'n', value: null });
    expect(await stored('n')).toBeNull();
    await call('state_save', { task_id: 'n', state: null });
    const { content } = await call('state_load', { task_id: 'n' });
    expect(JSON.parse(content[0]?.text ?? '')).toMatchObject({ state: null });
  });

  it('is refused for what a call needs', async () => {
    const refused = await answer('inbox_claim', { event_id: null });
    expect(refused).toContain('event_id: Must be a string.');
  });

  it('is no condition of a rule, which would match more without it', async () => {
    const policy = { rules: [{ effect: 'auto_approve', action: 'a', amount_lte: null }] };
    expect(await answer('policy_set', { policy })).toContain('POLICY_INVALID');
  });
});

describe('no arguments', () => {
  it.each([
    ['null', null],
    ['nothing', undefined],
    ['{}', '{}'],
    ['"null"', 'null'],
    ['an empty text', ''],
    ['a blank', ' '],
  ])('may be sent as %s', async (_shown, args) => {
    expect(await answer('whoami', args)).toMatchObject({ project: { slug: expect.anything() } });
    expect(await answer('kv_set', args)).toContain('key: This field is required.');
  });

  it('are an object, and nothing else', async () => {
    for (const args of [[], 5, 'text', '[1]']) {
      const refused = 'Invalid params: arguments must be an object';
      await expect(call('inbox_list', args)).rejects.toThrow(refused);
    }
    expect(await answer('inbox_list', '{"limit":"5"}')).toMatchObject({ items: [] });
  });

  it('of a prompt may be null, and so may a cursor', async () => {
    const { result } = await agent.legacy('prompts/get', { name: 'work_inbox', arguments: null });
    expect(result).toHaveProperty('messages');
    const typed = { name: 'work_inbox', arguments: { type: null } };
    expect((await agent.modern('prompts/get', typed)).result).toEqual(
      expect.objectContaining({ messages: result['messages'] }),
    );
    expect((await agent.legacy('tools/list', { cursor: null })).result).toHaveProperty('tools');
  });
});

it('the official client sends text and null, too', async () => {
  const client = new Client({ name: 'official', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${gateway.apiKey}` } };
  const url = new URL(`${gateway.url}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  const args = { limit: '5', source: null };
  const { structuredContent } = await client.callTool({ name: 'inbox_list', arguments: args });
  expect(structuredContent).toEqual({ items: [], next_cursor: null });
  await client.close();
});
