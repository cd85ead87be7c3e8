import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installPackage } from './installed.ts';
import { Machine } from './machine.ts';

const installed = await installPackage();

/** How an agent reaches the tools: through `svc mcp`, or over HTTP with a key. */
type Road = 'stdio' | 'HTTP';

describe.runIf(installed)('an agent with the official MCP client', () => {
  let machine: Machine;
  let mcpUrl: string;

  beforeAll(async () => {
    machine = new Machine(installed);
    ({ mcp_url: mcpUrl } = await machine.json<{ mcp_url: string }>('up', '--port', '0'));
    await machine.svc('source', 'add', 'shop');
  });
  afterAll(() => machine.remove());

  async function connect(road: Road): Promise<Client> {
    const client = new Client({ name: 'packed-agent', version: '1.0.0' });
    if (road === 'stdio') {
      const { command, env } = machine;
      await client.connect(new StdioClientTransport({ command, args: ['mcp'], env: { ...env } }));
      return client;
    }
    const key = (await machine.svc('auth', 'token')).trim();
    const headers = { authorization: `Bearer ${key}` };
    const transport = new StreamableHTTPClientTransport(new URL(mcpUrl), {
      requestInit: { headers },
    });
    await client.connect(transport);
    return client;
  }

  it.each<Road>(['stdio', 'HTTP'])(
    'over %s waits for an event, claims and finishes it',
    async (road) => {
      const client = await connect(road);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(
        expect.arrayContaining([
          'inbox_wait',
          'inbox_claim',
          'inbox_ack',
          'ask_approval',
          'kv_set',
        ]),
      );
      const waiting = client.callTool({
        name: 'inbox_wait',
        arguments: { source: 'shop', timeout_seconds: 60 },
      });
      await machine.svc('trigger', 'webhook', '--source', 'shop');
      const { structuredContent: found } = await waiting;
      const event_id = (found as { event: { id: string } }).event.id;
      const call = async (name: string, args: Record<string, unknown>) => {
        const { structuredContent, isError } = await client.callTool({ name, arguments: args });
        return { isError, answer: structuredContent };
      };
      expect(await call('inbox_claim', { event_id })).toMatchObject({
        answer: { id: event_id, source: 'shop', status: 'claimed' },
      });
      expect(await call('inbox_ack', { event_id })).toMatchObject({ answer: { status: 'done' } });
      expect(await call('inbox_claim', { event_id })).toMatchObject({ isError: true });
      await client.close();
    },
  );

  it.each<Road>(['stdio', 'HTTP'])('over %s is the agent that the ledger names', async (road) => {
    const client = await connect(road);
    await client.callTool({ name: 'kv_set', arguments: { key: `from-${road}`, value: { n: 1 } } });
    await client.close();
    expect(await machine.json('kv', 'get', `from-${road}`)).toMatchObject({ value: { n: 1 } });
    const { items } = await machine.json<{ items: object[] }>('ledger', 'query', '--op', 'kv_set');
    expect(items).toContainEqual(
      expect.objectContaining({ subject: `from-${road}`, agent: 'packed-agent' }),
    );
  });
});
