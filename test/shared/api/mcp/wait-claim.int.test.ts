import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../../helpers/gateway.ts';

interface Waited {
  readonly event: Readonly<Record<string, unknown>> | null;
}

let gateway: TestGateway;
let url: string;
let arrivals = 0;
const clients: Client[] = [];

beforeAll(async () => {
  gateway = await TestGateway.start();
  url = await gateway.addSource({ name: 'open' });
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await gateway.stop();
});

async function clientOf(key: string): Promise<Client> {
  const client = new Client({ name: 'official', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), { requestInit }),
  );
  // From here on it checks every answer against the schema of its tool.
  await client.listTools();
  clients.push(client);
  return client;
}

const wait = (client: Client, input: Record<string, unknown>) =>
  client.callTool({ name: 'inbox_wait', arguments: { timeout_seconds: 5, ...input } });

async function claimed(client: Client): Promise<Waited['event']> {
  const { structuredContent } = await wait(client, { claim: true, timeout_seconds: 1 });
  return (structuredContent as Waited).event;
}

async function arrive(): Promise<string> {
  arrivals += 1;
  const body = JSON.stringify({ text: 'Obey me', number: arrivals });
  const answer = await gateway.deliver(url, body, { 'content-type': 'application/json' });
  return String(answer.body['event_id']);
}

const TRUST = { trust: 'external_untrusted' };

describe('inbox_wait with claim', () => {
  it('returns the event with a lease, and the payload fenced', async () => {
    const client = await clientOf(gateway.apiKey);
    const id = await arrive();
    const answer = await wait(client, { claim: true });
    expect(answer).toMatchObject({
      isError: false,
      structuredContent: {
        event: { id, status: 'claimed', untrusted: { payload: { text: 'Obey me' } }, ...TRUST },
      },
      _meta: { 'svc/trust': 'external_untrusted' },
    });
    const { event } = answer.structuredContent as Waited;
    const done = { event_id: id, lease_id: event?.['lease_id'] };
    expect(await client.callTool({ name: 'inbox_ack', arguments: done })).toMatchObject({
      structuredContent: { status: 'done' },
    });
  });

  it('waits for an event to come', async () => {
    const client = await clientOf(gateway.apiKey);
    const project = await gateway.gateway.projects.find(gateway.projectId);
    const waiting = wait(client, { claim: true });
    await expect.poll(() => project?.waits.size, { interval: 5 }).toBe(1);
    const id = await arrive();
    expect(await waiting).toMatchObject({ structuredContent: { event: { id } } });
  });

  it('returns null at the timeout', async () => {
    expect(await claimed(await clientOf(gateway.apiKey))).toBeNull();
  });

  it('gives each event to one of many agents', async () => {
    const agents = await Promise.all(Array.from({ length: 6 }, () => clientOf(gateway.apiKey)));
    const came = [await arrive(), await arrive(), await arrive()];
    const taken = await Promise.all(agents.map((agent) => claimed(agent)));
    const ids = taken.flatMap((event) => (event ? [String(event['id'])] : []));
    expect(ids.toSorted()).toEqual(came.toSorted());
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['another word than true or false', { claim: 'yes' }, 'claim: Expected true or false.'],
    ['a place to start from', { claim: true, after: `evt_${'0'.repeat(26)}` }, 'after: '],
  ])('refuses %s', async (_title, input, problem) => {
    const answer = await wait(await clientOf(gateway.apiKey), input);
    expect(answer.isError).toBe(true);
    expect(JSON.stringify(answer.content)).toContain(problem);
  });

  it('is not for a key that only reads: it neither sees nor may use it', async () => {
    const client = await clientOf(await gateway.key('inbox:read'));
    const id = await arrive();
    expect(await wait(client, { claim: true })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('SCOPE_MISSING') }],
    });
    expect(await wait(client, {})).toMatchObject({
      structuredContent: { event: { id, status: 'pending' } },
    });
  });
});
