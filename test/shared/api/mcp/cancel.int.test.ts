import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { TestGateway } from '../../../helpers/gateway.ts';
import { ReplicaDaemon } from '../../../helpers/replica-daemon.ts';
import { META, rpc } from './wire.ts';
import { startBridge } from '../../../cli/tools/mcp-stdio.ts';

const WAITS_PER_KEY = 10;

let gateway: TestGateway;
let tests = 0;
let hook: string;
const clients: Client[] = [];

beforeAll(async () => {
  gateway = await TestGateway.start();
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  tests += 1;
  hook = await gateway.addSource({ name: sourceName() });
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await vi.waitUntil(() => held() === 0, { timeout: 60_000 });
});

/** Each test waits for events of its own. */
const sourceName = (): string => `shop-${tests}`;
const waitInput = (seconds = 120) => ({ timeout_seconds: seconds, source: sourceName() });

/** The official client, which speaks the revisions of 2025. */
async function connect(base = gateway.url, key = gateway.apiKey): Promise<Client> {
  const client = new Client({ name: 'official', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit }));
  clients.push(client);
  return client;
}

/** A wait for an event that the client may take back. */
function wait(client: Client, tool = 'inbox_wait', input: object = waitInput()) {
  const abort = new AbortController();
  const answer = client
    .callTool({ name: tool, arguments: { ...input } }, undefined, { signal: abort.signal })
    .catch((error: unknown) => String(error));
  return { answer, cancel: () => abort.abort('not needed') };
}

/** How many waits the gateway holds. */
const held = (): number => gateway.gateway.gauges.waits;

async function arrives(): Promise<string> {
  const { body } = await gateway.deliver(hook, '{"type":"order"}');
  return String(body['event_id']);
}

describe('a client of the 2025 revisions that takes back its waits', () => {
  it('has all its places again', async () => {
    const client = await connect();
    const waits = Array.from({ length: WAITS_PER_KEY }, () => wait(client));
    await expect.poll(held).toBe(WAITS_PER_KEY);
    const { body } = await gateway.call('GET', '/v1/inbox/wait?timeout_seconds=1');
    expect(body).toMatchObject({ error: { code: 'TOO_MANY_WAITS' } });
    for (const { cancel } of waits) cancel();
    await vi.waitUntil(() => held() === 0, { timeout: 60_000 });
    const again = await wait(client, 'inbox_wait', waitInput(1)).answer;
    expect(again).toMatchObject({ structuredContent: { event: null } });
    for (const { answer } of waits) expect(await answer).toContain('not needed');
  });

  it('does not end the wait of another client of the same key that has the same id', async () => {
    const [one, other] = [await connect(), await connect()];
    const [its, others] = [wait(one), wait(other)];
    await expect.poll(held).toBe(2);
    its.cancel();
    await expect.poll(held).toBe(1);
    const id = await arrives();
    expect(await others.answer).toMatchObject({ structuredContent: { event: { id } } });
  });

  it('ends nothing with an id that another client uses alone', async () => {
    const [one, other] = [await connect(), await connect()];
    const others = wait(other);
    await expect.poll(held).toBe(1);
    await one.notification({ method: 'notifications/cancelled', params: { requestId: 1 } });
    const id = await arrives();
    expect(await others.answer).toMatchObject({ structuredContent: { event: { id } } });
  });

  it('leaves a question to a person open', async () => {
    const client = await connect();
    const asked = wait(client, 'ask_approval', {
      action: 'deploy',
      summary: 'Deploy v2',
      wait_seconds: 120,
    });
    await expect.poll(held).toBe(1);
    asked.cancel();
    await vi.waitUntil(() => held() === 0, { timeout: 60_000 });
    const { body } = await gateway.call('GET', '/v1/requests');
    expect(body['items']).toMatchObject([{ status: 'pending', action: 'deploy' }]);
  });
});

/** A client that knows no sessions. */
function bare(body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${gateway.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.apiKey}`,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
      ...headers,
    },
    body: JSON.stringify(body),
  });
}

const bareWait = (id: unknown, headers = {}) =>
  bare(rpc('tools/call', { name: 'inbox_wait', arguments: waitInput() }, id), headers);
const bareCancel = (requestId: unknown, headers = {}) =>
  bare({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }, headers);

describe('a client that keeps no session', () => {
  it('ends its wait too, whose answer ends without a message', async () => {
    const answer = bareWait('a');
    await expect.poll(held).toBe(1);
    expect((await bareCancel('a')).status).toBe(202);
    expect(await (await answer).text()).not.toContain('jsonrpc');
    await vi.waitUntil(() => held() === 0, { timeout: 60_000 });
  });

  it.each([
    ['a number in place of a text', '7', 7, {}],
    ['another agent', 7, 7, { 'x-service-agent': 'another' }],
    ['another program', 7, 7, { 'user-agent': 'another' }],
    ['a session', 7, 7, { 'mcp-session-id': 'another' }],
    ['no id', 7, null, {}],
  ])('ends nothing with %s', async (_case, id, cancelled, headers) => {
    const answer = bareWait(id);
    await expect.poll(held).toBe(1);
    expect((await bareCancel(cancelled, headers)).status).toBe(202);
    await arrives();
    expect(await (await answer).text()).toContain('"event":{"id":"evt_');
  });

  it('ends neither of two waits that nothing tells apart', async () => {
    const answers = [bareWait(7), bareWait(7)];
    await expect.poll(held).toBe(2);
    await bareCancel(7);
    await arrives();
    for (const answer of answers) expect(await (await answer).text()).toContain('evt_');
  });
});

describe('a wait that is taken back otherwise', () => {
  it('gives its place back at 2026-07-28, where the client closes the stream', async () => {
    const leave = new AbortController();
    const params = { _meta: META, name: 'inbox_wait', arguments: waitInput() };
    const headers = {
      authorization: `Bearer ${gateway.apiKey}`,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'inbox_wait',
    };
    const body = JSON.stringify(rpc('tools/call', params));
    const sent = fetch(`${gateway.url}/mcp`, {
      method: 'POST',
      headers,
      body,
      signal: leave.signal,
    }).catch(() => null);
    await expect.poll(held).toBe(1);
    leave.abort();
    await sent;
    await vi.waitUntil(() => held() === 0, { timeout: 60_000 });
  });

  it('gives its place back over standard input and output', async () => {
    const { send, input, done, heard } = startBridge(gateway.url, gateway.apiKey);
    const call = { name: 'inbox_wait', arguments: waitInput() };
    send({ id: 5, method: 'tools/call', params: call });
    await expect.poll(held).toBe(1);
    send({ method: 'notifications/cancelled', params: { requestId: 5 } });
    await vi.waitUntil(() => held() === 0, { timeout: 60_000 });
    input.end();
    await done;
    expect(heard).toEqual([]);
  });

  it.each([true, false])(
    'ends with the input of the bridge, and claims nothing for nobody (claim: %s)',
    async (claim) => {
      const { send, input, done, heard } = startBridge(gateway.url, gateway.apiKey);
      const call = { name: 'inbox_wait', arguments: { ...waitInput(), claim } };
      send({ id: 5, method: 'tools/call', params: call });
      await expect.poll(held).toBe(1);
      input.end();
      await done;
      expect(heard).toMatchObject([
        { id: 5, error: { message: expect.stringContaining('input has ended') } },
      ]);
      await vi.waitUntil(() => held() === 0, { timeout: 60_000 });
      const { body } = await gateway.call('GET', `/v1/inbox/events/${await arrives()}`);
      expect(body).toMatchObject({ status: 'pending', attempts: 0 });
    },
  );

  it('ends with the output of the bridge too', async () => {
    const { send, done, output } = startBridge(gateway.url, gateway.apiKey);
    const call = { name: 'inbox_wait', arguments: { ...waitInput(), claim: true } };
    send({ id: 5, method: 'tools/call', params: call });
    await expect.poll(held).toBe(1);
    output.destroy();
    await done;
    await vi.waitUntil(() => held() === 0, { timeout: 60_000 });
  });

  it('is asked all the same when the input of the bridge ends, and answers what there is', async () => {
    const { send, input, done, heard } = startBridge(gateway.url, gateway.apiKey);
    const question = { question: `Who is there? ${tests}`, wait_seconds: 120 };
    send({ id: 5, method: 'tools/call', params: { name: 'ask_human', arguments: question } });
    input.end();
    await done;
    expect(JSON.stringify(heard)).toMatch(/req_.*pending|pending.*req_/);
    const { body } = await gateway.call('GET', '/v1/requests?status=pending');
    const asked = (body['items'] as { question: string }[]).filter(
      (one) => one.question === question.question,
    );
    expect(asked).toHaveLength(1);
  });

  it('gives its place at the gateway back over a daemon', async () => {
    // The daemon may not keep a copy with this key, so it waits at the gateway.
    const key = await gateway.key('inbox:read');
    const daemon = await ReplicaDaemon.start(gateway.url, {
      projectId: gateway.projectId,
      apiKey: key,
    });
    try {
      const client = await connect(daemon.url, key);
      const { cancel } = wait(client);
      await expect.poll(held).toBe(1);
      cancel();
      await vi.waitUntil(() => held() === 0, { timeout: 60_000 });
    } finally {
      await daemon.stop();
    }
  });
});
