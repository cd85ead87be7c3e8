import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operations } from '../../../../shared/operations/index.ts';
import { FakeExecutor, foreignEvent, serveMcp, testOperations, type Served } from './fake.ts';

let executor: FakeExecutor;
let served: Served;
let client: Client;

beforeEach(async () => {
  executor = new FakeExecutor();
  served = await serveMcp(executor, [...testOperations, ...operations], {
    streamAfterMs: 60,
    tickMs: 30,
  });
  client = new Client({ name: 'official', version: '1.0.0' });
  const requestInit = { headers: { authorization: 'Bearer good' } };
  const transport = new StreamableHTTPClientTransport(served.url, { requestInit });
  await client.connect(transport);
});

afterEach(async () => {
  await client.close();
  await served.close();
});

function later<T>(ms: number, value: T): Promise<T> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms, value);
  });
}

describe('the official client', () => {
  it('connects and learns what it talks to', () => {
    expect(client.getServerVersion()).toEqual({ name: 'svc', version: '1.2.3' });
    expect(client.getServerCapabilities()).toEqual({
      tools: { listChanged: false },
      resources: {},
      prompts: { listChanged: false },
      completions: {},
    });
  });

  it('pings', async () => {
    await expect(client.ping()).resolves.toEqual({});
  });

  it('lists tools', async () => {
    executor.scopes = ['admin', 'inbox:read', 'inbox:write', 'ledger:read'];
    const { tools, nextCursor } = await client.listTools();
    expect(nextCursor).toBeUndefined();
    expect(tools.map(({ name }) => name)).toContain('inbox_claim');
    expect(tools.every(({ title }) => title)).toBe(true);
    // An answer that may be null is not declared.
    const undeclared = tools.filter(({ outputSchema }) => !outputSchema).map(({ name }) => name);
    expect(undeclared).toEqual(['test_find']);
  });

  it('calls tools and checks their answers against the list', async () => {
    await client.listTools();
    const said = await client.callTool({ name: 'test_echo', arguments: { text: 'hi' } });
    expect(said.structuredContent).toEqual({ text: 'hi' });
    executor.waitAnswer = Promise.resolve({ event: foreignEvent() });
    const waited = await client.callTool({ name: 'test_wait' });
    expect(waited.structuredContent).toMatchObject({
      event: { id: foreignEvent().id, untrusted: { payload: foreignEvent().payload } },
      trust: 'external_untrusted',
    });
    executor.waitAnswer = Promise.resolve({ event: null });
    expect((await client.callTool({ name: 'test_wait' })).structuredContent).toEqual({
      event: null,
    });
  });

  it('takes an answer of nothing', async () => {
    await client.listTools();
    const nothing = await client.callTool({ name: 'test_find', arguments: { text: 'nothing' } });
    expect(nothing).toEqual({ content: [{ type: 'text', text: 'null' }], isError: false });
    const found = await client.callTool({ name: 'test_find', arguments: { text: 'x' } });
    expect(found.structuredContent).toEqual({ text: 'x' });
  });

  it('gets failures as results, and unknown tools as errors', async () => {
    const failed = await client.callTool({ name: 'test_fail', arguments: { how: 'refuse' } });
    expect(failed).toEqual({
      content: [{ type: 'text', text: 'NOT_FOUND: Not found.' }],
      isError: true,
    });
    await expect(client.callTool({ name: 'nonsense' })).rejects.toThrow('Unknown tool: nonsense');
  });

  it('hears of progress, which keeps a long wait from timing out', async () => {
    executor.waitAnswer = later(6000, { event: null });
    const heard: number[] = [];
    const answer = await client.callTool({ name: 'test_wait' }, undefined, {
      onprogress: ({ progress }) => heard.push(progress),
      // A moment of a busy machine may come between two of them.
      timeout: 4000,
      resetTimeoutOnProgress: true,
    });
    expect(answer.structuredContent).toEqual({ event: null });
    expect(heard.slice(0, 3)).toEqual([0.03, 0.06, 0.09]);
  });

  it('takes the answer of a wait that became a stream', async () => {
    executor.waitAnswer = later(200, { event: foreignEvent() });
    const answer = await client.callTool({ name: 'test_wait' });
    expect(answer.structuredContent).toMatchObject({
      event: { id: foreignEvent().id, untrusted: { payload: foreignEvent().payload } },
      trust: 'external_untrusted',
    });
  });

  it('stops a wait when it goes away', async () => {
    executor.waitAnswer = new Promise(() => {});
    const outcome = client.callTool({ name: 'test_wait' }).catch(String);
    await expect.poll(() => executor.signals.length).toBe(1);
    await client.close();
    expect(await outcome).toContain('Connection closed');
    await expect.poll(() => executor.signals[0]?.aborted).toBe(true);
  });
});
