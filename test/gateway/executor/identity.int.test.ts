import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startBridge } from '../../cli/tools/mcp-stdio.ts';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { ReplicaDaemon } from '../../helpers/replica-daemon.ts';
import { META } from '../../shared/api/mcp/wire.ts';
import { Agent } from '../../shared/api/mcp/agent.ts';

const HOURS = 3_600_000;
const SESSION_HOURS = 12;

let gateway: TestGateway;
let clock: FakeClock;
/** Where a call goes to: the gateway, and a daemon that passes it on. */
let daemon: ReplicaDaemon;
let key: string;

beforeAll(async () => {
  clock = new FakeClock(Date.now());
  gateway = await TestGateway.start({ clock });
  daemon = await ReplicaDaemon.start(gateway.url, gateway);
  await daemon.until('local');
});
afterAll(async () => {
  await daemon.stop();
  await gateway.stop();
});
beforeEach(async () => {
  key = await gateway.key('disk', 'approvals', 'ledger:read');
});

const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

const places = [
  ['a gateway', () => gateway],
  ['a daemon before it', () => daemon],
] as const;

const HELLO = { agent: 'night-shift', platform: 'codex' };

const hello = (headers: Record<string, string> = {}) =>
  gateway.call('POST', '/v1/session/hello', { key, body: HELLO, headers });

/** The official client, of the revisions of 2025. */
async function connect(base: string, name = 'claude-desktop'): Promise<Client> {
  const client = new Client({ name, version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${key}`, 'user-agent': 'codex/1' } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit }));
  clients.push(client);
  return client;
}

const ask = (client: Client, name: string, input: Record<string, unknown> = {}) =>
  client.callTool({ name, arguments: input });

/** The last entry of the ledger of this key's operation. */
async function lastEntry(op: string): Promise<Record<string, unknown>> {
  const { body } = await gateway.call<{ items: Record<string, unknown>[] }>(
    'GET',
    `/v1/ledger?limit=500&op=${op}`,
    { key },
  );
  const [found] = body.items
    .filter((one) => one['op'] === op)
    .toSorted((one, other) => Number(other['seq']) - Number(one['seq']));
  if (!found) throw new Error(`Nothing of ${op} in the ledger.`);
  return found;
}

describe('the entry of session_hello', () => {
  it('names the agent that it announces, whoever was known before', async () => {
    await hello({ 'user-agent': 'claude-cli/2' });
    expect(await lastEntry('session_hello')).toMatchObject(HELLO);
  });

  it.each(['mine', '', 'x'.repeat(10_000), 'two\nlines', 'Codex'])(
    'has the platform `custom` for any that is not known: %j',
    async (platform) => {
      const body = { agent: 'day-shift', platform };
      const answer = await gateway.call('POST', '/v1/session/hello', { key, body });
      const known = { agent: 'day-shift', platform: 'custom' };
      expect(answer).toMatchObject({ status: 200, body: known });
      expect(await lastEntry('session_hello')).toMatchObject(known);
    },
  );
});

describe.each(places)('who calls, at %s', (_name, place) => {
  const whoami = async (headers: Record<string, string>) => {
    const { body } = await place().call<{ agent: object }>('GET', '/v1/whoami', { key, headers });
    return body.agent;
  };

  it('is what the call says, then what the key said, then what the user agent tells', async () => {
    const userAgent = { 'user-agent': 'codex/1' };
    expect(await whoami(userAgent)).toMatchObject({ label: 'codex', source: 'user_agent' });
    await hello();
    const said = { label: 'night-shift', platform: 'codex', source: 'hello' };
    await expect.poll(() => whoami(userAgent)).toEqual(said);
    const client = { ...userAgent, 'x-service-client': 'claude-desktop' };
    expect(await whoami(client)).toEqual({
      label: 'claude-desktop',
      platform: 'claude-code',
      source: 'mcp_client_info',
    });
    expect(await whoami({ ...client, 'x-service-agent': 'bot' })).toMatchObject({
      label: 'bot',
      source: 'header',
    });
  });

  it.each(['2025', '2026'])(
    'is the MCP client, whatever the key said before, in %s',
    async (year) => {
      await hello();
      const client = await connect(place().url);
      const modern = new Agent(place().url, key);
      const meta = {
        ...META,
        'io.modelcontextprotocol/clientInfo': { name: 'claude-desktop', version: '1' },
      };
      const call = async (name: string, input: Record<string, unknown>) =>
        year === '2025'
          ? ask(client, name, input)
          : (await modern.modern('tools/call', { _meta: meta, name, arguments: input })).result;
      expect(await call('whoami', {})).toMatchObject({
        structuredContent: { agent: { label: 'claude-desktop', source: 'mcp_client_info' } },
      });
      await call('kv_set', { key: `by-${year}`, value: 1 });
      expect(await lastEntry('kv_set')).toMatchObject({
        agent: 'claude-desktop',
        platform: 'claude-code',
      });
      const asked = { action: 'deploy', summary: 'Deploy v2', wait_seconds: 0 };
      const { structuredContent } = (await call('ask_approval', asked)) as {
        structuredContent: { request_id: string };
      };
      const { body } = await gateway.call('GET', `/v1/requests/${structuredContent.request_id}`, {
        key,
      });
      expect(body['requested_by']).toMatchObject({ agent: 'claude-desktop' });
    },
  );

  it('is what the key said, where the MCP client says nothing', async () => {
    await hello();
    const agent = new Agent(place().url, key);
    const askWhoami = async () =>
      (await agent.legacy('tools/call', { name: 'whoami', arguments: {} })).result;
    await expect
      .poll(async () => (await askWhoami())['structuredContent'])
      .toMatchObject({ agent: { label: 'night-shift', source: 'hello' } });
  });
});

describe('who calls', () => {
  it('is the client of svc mcp, whatever the key said before', async () => {
    await hello();
    const running = startBridge(gateway.url, key);
    await running.ask('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'größe', version: '1' },
    });
    const { result } = await running.ask('tools/call', { name: 'whoami', arguments: {} });
    expect(result?.['structuredContent']).toMatchObject({
      agent: { label: 'größe', source: 'mcp_client_info' },
    });
    running.input.end();
    await running.done;
  });

  it('is no longer what the key said twelve hours ago', async () => {
    await hello();
    const { body: before } = await gateway.call('GET', '/v1/whoami', { key });
    expect(before['agent']).toMatchObject({ source: 'hello' });
    clock.advance(SESSION_HOURS * HOURS + 1);
    const { body } = await gateway.call('GET', '/v1/whoami', { key });
    expect(body['agent']).toMatchObject({ label: null, source: 'none' });
  });
});
