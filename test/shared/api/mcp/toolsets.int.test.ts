import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operations } from '../../../../shared/operations/index.ts';
import { SCOPES } from '../../../../shared/lib/scopes.ts';
import { FakeExecutor, serveMcp, type Served } from './fake.ts';

let executor: FakeExecutor;
let served: Served;
const clients: Client[] = [];

beforeEach(async () => {
  executor = new FakeExecutor();
  executor.scopes = [...SCOPES];
  served = await serveMcp(executor, operations, {});
});

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await served.close();
});

/** The official client, connected to a part of the tools. */
async function connected(part: string): Promise<Client> {
  const client = new Client({ name: 'official', version: '1.0.0' });
  const requestInit = { headers: { authorization: 'Bearer good' } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${served.url.href}${part}`), { requestInit }),
  );
  clients.push(client);
  return client;
}

async function namesAt(part: string): Promise<string[]> {
  const { tools } = await (await connected(part)).listTools();
  return tools.map(({ name }) => name);
}

describe('an address with some of the tools', () => {
  it('offers toolsets and single tools, in the usual order', async () => {
    expect(await namesAt('?tools=ask,inbox_wait')).toEqual([
      'inbox_wait',
      'ask_approval',
      'ask_human',
      'request_status',
      'request_withdraw',
      'channel_list',
    ]);
    expect(await namesAt('?tools=session')).toEqual(['whoami', 'session_hello']);
  });

  it('has each tool in one set', async () => {
    const sets = 'inbox,ask,disk,source,policy,email,ledger,session';
    const all = await namesAt('');
    expect(await namesAt(`?tools=${sets}`)).toEqual(all);
    expect(all).toHaveLength(37);
    const parts = await Promise.all(sets.split(',').map((set) => namesAt(`?tools=${set}`)));
    expect(parts.flat().toSorted()).toEqual(all.toSorted());
  });

  it('shows a key only what its scopes allow', async () => {
    executor.scopes = ['inbox:read'];
    expect(await namesAt('?tools=inbox,disk')).toEqual(['inbox_list', 'inbox_wait', 'inbox_get']);
  });

  it('refuses the other tools', async () => {
    const client = await connected('?tools=inbox');
    await expect(client.callTool({ name: 'kv_set', arguments: {} })).rejects.toThrow(
      'Unknown tool: kv_set. This connection has other tools. See tools/list.',
    );
  });

  it.each([
    [
      '?tools=inbx',
      'tools: No tool or toolset: inbx. Did you mean inbox? Toolsets: session, source,',
    ],
    ['?tools=', 'No tool or toolset: an empty name.'],
    ['?tools=inbox,,ask', 'No tool or toolset: an empty name.'],
    ['?tools=usage', 'No tool or toolset: usage.'],
  ])('refuses %s, and says what there is', async (part, message) => {
    await expect(connected(part)).rejects.toThrow(message);
  });
});

describe('the read-only address', () => {
  it('offers only tools that change nothing', async () => {
    const { tools } = await (await connected('/readonly')).listTools();
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
    expect(tools.map(({ name }) => name)).toEqual([
      'whoami',
      'source_list',
      'inbox_list',
      'inbox_wait',
      'inbox_get',
      'request_status',
      'channel_list',
      'policy_get',
      'kv_list',
      'kv_get',
      'state_load',
      'file_list',
      'file_get',
      'email_status',
      'ledger_query',
      'ledger_verify',
    ]);
    expect(await namesAt('/readonly?tools=disk')).toEqual([
      'kv_list',
      'kv_get',
      'state_load',
      'file_list',
      'file_get',
    ]);
  });

  it('calls no tool that writes, and claims nothing', async () => {
    const client = await connected('/readonly');
    for (const { name } of operations.filter(({ effect, mcp }) => effect === 'write' && mcp)) {
      await expect(client.callTool({ name, arguments: {} })).rejects.toThrow('Unknown tool');
    }
    const { tools } = await client.listTools();
    const wait = tools.find(({ name }) => name === 'inbox_wait');
    expect(wait?.inputSchema.properties).not.toHaveProperty('claim');
    await expect(
      client.callTool({ name: 'inbox_wait', arguments: { claim: true } }),
    ).rejects.toThrow('Claiming is off: this connection only reads.');
  });
});
