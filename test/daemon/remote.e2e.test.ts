import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askAcceptLedger, askStatus } from '../../daemon/probe.ts';
import { newApiKey, newProjectId } from '../../shared/lib/ids.ts';
import { TestGateway } from '../helpers/gateway.ts';
import { LossyProxy } from '../helpers/lossy-proxy.ts';
import { ReplicaDaemon } from '../helpers/replica-daemon.ts';

const AGE = 'x-service-replica-age';
const STALE = 'x-service-stale';

let gateway: TestGateway;
let proxy: LossyProxy;
let daemon: ReplicaDaemon;
const others: ReplicaDaemon[] = [];

beforeEach(async () => {
  gateway = await TestGateway.start();
  proxy = await LossyProxy.open(gateway.url);
  daemon = await ReplicaDaemon.start(proxy.url, gateway);
});
afterEach(async () => {
  for (const one of [daemon, ...others.splice(0)]) await one.stop();
  await proxy.down();
  await gateway.stop();
});

/** An event that is there to be claimed. */
async function newEvent(): Promise<string> {
  const url = await gateway.addSource({
    name: `s-${performance.now().toFixed(3).replace('.', '-')}`,
  });
  const { body } = await gateway.deliver(url, `{"at":${performance.now()}}`);
  return String(body['event_id']);
}

/** How many writes of a kind the ledger has. */
async function entriesOf(op: string): Promise<number> {
  const { body } = await gateway.call<{ items: { op: string }[] }>('GET', '/v1/ledger?limit=500');
  return body.items.filter((one) => one.op === op).length;
}

describe('a read', () => {
  it('comes from the copy, with what was written elsewhere a moment ago', async () => {
    await daemon.until('local');
    await gateway.call('PUT', '/v1/kv/color', { body: 'blue' });
    await expect
      .poll(async () => (await daemon.call('GET', '/v1/kv/color')).body)
      .toMatchObject({ value: 'blue' });
    const { headers } = await daemon.call('GET', '/v1/kv/color');
    expect(Number(headers.get(AGE))).toBeLessThan(20);
    expect(headers.get(STALE)).toBeNull();
  });

  it('sees what was written through the same daemon, always', async () => {
    await daemon.until('local');
    for (let n = 1; n <= 30; n += 1) {
      const written = await daemon.call('PUT', '/v1/kv/count', { body: n });
      expect(Number(written.headers.get('x-service-position'))).toBeGreaterThan(0);
      const { body, headers } = await daemon.call('GET', '/v1/kv/count');
      expect([body['value'], headers.has(AGE)]).toEqual([n, true]);
    }
  });

  it('sees a write whose answer was lost', async () => {
    await daemon.until('local');
    proxy.loseAnswersTo('PUT /v1/kv/lost', 2);
    const { status, body } = await daemon.call('PUT', '/v1/kv/lost', { body: 1 });
    expect([status, body]).toMatchObject([503, { error: { code: 'UNAVAILABLE' } }]);
    expect(proxy.lost).toBe(2);
    expect((await daemon.call('GET', '/v1/kv/lost')).body).toMatchObject({ value: 1 });
  });

  it('of what is not in rows comes from the gateway', async () => {
    await daemon.until('local');
    const bytes = Buffer.from('hello');
    const sent = await fetch(`${daemon.url}/v1/files/a%2Fb.txt`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${daemon.apiKey}`, 'content-type': 'text/plain' },
      body: bytes,
    });
    expect(sent.status).toBe(200);
    const { body, headers } = await daemon.call('GET', '/v1/files/a%2Fb.txt');
    expect(body).toMatchObject({ path: 'a/b.txt', content_base64: bytes.toString('base64') });
    expect(headers.has(AGE)).toBe(false);
    expect((await daemon.call('GET', '/v1/files')).headers.has(AGE)).toBe(true);
  });
});

describe('a write', () => {
  it('whose answer was lost is repeated by the daemon, and done once', async () => {
    const event_id = await newEvent();
    proxy.loseAnswersTo('POST /v1/inbox/claim');
    const { status, body } = await daemon.call('POST', '/v1/inbox/claim', { body: { event_id } });
    expect([status, body]).toMatchObject([200, { id: event_id, lease_id: expect.any(String) }]);
    expect(proxy.lost).toBe(1);
    expect(await entriesOf('inbox_claim')).toBe(1);
  });

  it('of two daemons for one event is done by one of them', async () => {
    const other = await ReplicaDaemon.start(gateway.url, gateway);
    others.push(other);
    for (let round = 0; round < 5; round += 1) {
      const event_id = await newEvent();
      const claims = [daemon, other].map((one) =>
        one.call<{ error?: { code: string } }>('POST', '/v1/inbox/claim', { body: { event_id } }),
      );
      const answers = await Promise.all(claims);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
      const refused = answers.find(({ status }) => status === 409);
      expect(refused?.body.error?.code).toBe('EVENT_NOT_CLAIMABLE');
    }
  });
});

describe('a wait', () => {
  it('is woken by what happens at the gateway', async () => {
    await daemon.until('local');
    const waiting = daemon.call('GET', '/v1/inbox/wait?timeout_seconds=30');
    await sleep(200);
    const id = await newEvent();
    const { body, headers } = await waiting;
    expect(body).toMatchObject({ event: { id } });
    expect(headers.has(AGE)).toBe(true);
  });

  it('for a person is held by the gateway', async () => {
    const { body } = await daemon.call('POST', '/v1/requests', {
      body: { action: 'deploy', summary: 'Deploy v2', wait_seconds: 1 },
    });
    expect(body).toMatchObject({ status: 'pending', request_id: expect.any(String) });
    const { status } = await daemon.call('GET', `/v1/requests/${String(body['request_id'])}`);
    expect(status).toBe(200);
  });

  it('ends when the daemon does', async () => {
    await daemon.until('local');
    const waiting = daemon.call('GET', '/v1/inbox/wait?timeout_seconds=100');
    // It has come, where what was asked after it is answered.
    await daemon.call('GET', '/v1/inbox');
    await sleep(200);
    await daemon.down();
    expect(await waiting).toMatchObject({ status: 200, body: { event: null } });
  });
});

describe('the ledger', () => {
  it('is accepted over the socket, and then checked from its first entry on', async () => {
    await daemon.until('local');
    await daemon.call('PUT', '/v1/kv/color', { body: 'blue' });
    const { body } = await gateway.call<{ items: { seq: number }[] }>('GET', '/v1/ledger?limit=1');
    const seq = body.items[0]?.seq;
    const checked = async () => (await daemon.replica()).witness;
    await expect.poll(checked).toEqual({ ok: true, seq });
    expect(await askAcceptLedger(daemon.home.socketPath)).toBe(true);
    await expect.poll(checked).toEqual({ ok: true, seq });
    await daemon.down();
    expect(await askAcceptLedger(daemon.home.socketPath)).toBe(false);
  });
});

describe('without the gateway', () => {
  beforeEach(async () => {
    await daemon.until('local');
    await daemon.call('PUT', '/v1/kv/color', { body: 'blue' });
    await daemon.call('GET', '/v1/kv/color');
    await proxy.down();
  });

  it('reads come from the copy, marked', async () => {
    await daemon.until('stale');
    const { status, body, headers } = await daemon.call('GET', '/v1/kv/color');
    expect([status, body]).toMatchObject([200, { value: 'blue' }]);
    expect(headers.get(STALE)).toBe('true');
    expect(Number(headers.get(AGE))).toBeGreaterThan(0);
    const { body: who } = await daemon.call('GET', '/v1/whoami');
    expect(who).toMatchObject({ project: { id: gateway.projectId } });
  });

  it('writes are refused at once, and the refusal says by whom and what to do', async () => {
    const { status, body, headers } = await daemon.call('PUT', '/v1/kv/color', { body: 'red' });
    expect([status, body]).toEqual([
      503,
      {
        error: {
          code: 'UNAVAILABLE',
          message: "The service can't take this right now.",
          hint: `The gateway ${proxy.url} can't be reached (nothing is listening there). Nothing changed: repeat it when the gateway is back; see \`svc status\`.`,
          details: { gateway: proxy.url, retry_after: 5 },
        },
      },
    ]);
    expect(headers.get('retry-after')).toBe('5');
  });

  it('a key that only the gateway could know is refused for the moment', async () => {
    const { status, body } = await daemon.call('GET', '/v1/kv/color', {
      key: newApiKey(gateway.projectId),
    });
    expect([status, body]).toMatchObject([503, { error: { code: 'UNAVAILABLE' } }]);
  });

  it('a daemon starts, and answers from its copy', async () => {
    await daemon.down();
    await daemon.up();
    await daemon.until('stale');
    const { body, headers } = await daemon.call('GET', '/v1/kv/color');
    expect([body['value'], headers.get(STALE)]).toEqual(['blue', 'true']);
    const status = await askStatus(daemon.home.socketPath);
    expect(status).toMatchObject({
      mode: 'replica',
      gateway: proxy.url,
      project: gateway.projectId,
      // As the gateway told it before.
      hooks_url: gateway.url,
      replica: { state: 'offline', offline_since: expect.any(String) },
    });
  });

  it('all goes on when it is back', async () => {
    await daemon.until('stale');
    await gateway.call('PUT', '/v1/kv/color', { body: 'green' });
    await proxy.up();
    await daemon.until('local');
    const { body, headers } = await daemon.call('GET', '/v1/kv/color');
    expect([body['value'], headers.get(STALE)]).toEqual(['green', null]);
    expect((await daemon.call('PUT', '/v1/kv/color', { body: 'red' })).status).toBe(200);
  });
});

describe('a key', () => {
  it('is good from the moment it was made, and no longer when it was revoked', async () => {
    await daemon.until('local');
    const made = await daemon.call<{ id: string; api_key: string }>('POST', '/v1/keys', {
      body: { name: 'helper', scopes: ['disk'] },
    });
    const key = made.body.api_key;
    expect((await daemon.call('GET', '/v1/kv/none', { key })).status).toBe(200);
    expect((await daemon.call('GET', '/v1/inbox', { key })).body).toMatchObject({
      error: { code: 'SCOPE_MISSING', details: { scope: 'inbox:read' } },
    });
    await daemon.call('DELETE', `/v1/keys/${made.body.id}`);
    expect(await daemon.call('GET', '/v1/kv/none', { key })).toMatchObject({
      status: 401,
      body: { error: { code: 'KEY_REVOKED' } },
    });
  });

  it('of another project is refused', async () => {
    const { status, body } = await daemon.call('GET', '/v1/whoami', {
      key: newApiKey(newProjectId()),
    });
    expect([status, body]).toMatchObject([
      401,
      { error: { code: 'UNAUTHENTICATED', hint: expect.stringContaining(gateway.projectId) } },
    ]);
  });

  it('that was rotated is followed when the new one is stored', async () => {
    await daemon.until('local');
    const { body } = await daemon.call<{ key: { id: string } }>('GET', '/v1/whoami');
    const rotated = await daemon.call<{ api_key: string }>(
      'POST',
      `/v1/keys/${body.key.id}/rotate`,
      {
        body: {},
      },
    );
    const key = rotated.body.api_key;
    daemon.store(proxy.url, gateway.projectId, key);
    await daemon.until('gateway');
    await daemon.until('local');
    const { status, headers } = await daemon.call('GET', '/v1/kv/none', { key });
    expect([status, headers.has(AGE)]).toEqual([200, true]);
  });

  it('without the scopes for a copy leads to the gateway, and the status says so', async () => {
    const apiKey = await gateway.key('disk');
    const narrow = await ReplicaDaemon.start(gateway.url, { projectId: gateway.projectId, apiKey });
    others.push(narrow);
    await expect.poll(async () => (await narrow.replica()).state).toBe('refused');
    expect(await narrow.replica()).toMatchObject({
      reads: 'gateway',
      code: 'SCOPE_MISSING',
      position: null,
    });
    expect((await narrow.call('PUT', '/v1/kv/a', { body: 1 })).status).toBe(200);
    const { body, headers } = await narrow.call('GET', '/v1/kv/a');
    expect([body['value'], headers.has(AGE)]).toEqual([1, false]);
  });
});

async function tool(name: string, input: Record<string, unknown>) {
  const { body } = await daemon.call<{ result: Record<string, unknown> }>('POST', '/mcp', {
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } },
    headers: { accept: 'application/json, text/event-stream' },
  });
  return body.result;
}

describe('the tools', () => {
  it('write at the gateway and read from the copy, and say so', async () => {
    await daemon.until('local');
    expect(await tool('kv_set', { key: 'a', value: [1, 2] })).toMatchObject({
      isError: false,
      _meta: { 'svc/position': expect.any(Number) },
    });
    expect(await tool('kv_get', { key: 'a' })).toMatchObject({
      structuredContent: { value: [1, 2] },
      _meta: { 'svc/replica': { ageMs: expect.any(Number), stale: false } },
    });
    const file = { path: 'f', content_base64: 'aGk=', content_type: 'text/plain' };
    expect(await tool('file_put', file)).toMatchObject({ structuredContent: { size_bytes: 2 } });
  });

  it('fail as at the gateway', async () => {
    const request_id = 'req_01j9z3k4m5n6p7q8r9s0t1v2w3';
    const text = `NOT_FOUND: Not found. No request ${request_id} in this project.`;
    expect(await tool('request_status', { request_id })).toEqual({
      content: [{ type: 'text', text }],
      isError: true,
    });
    await proxy.down();
    const [content] = (await tool('kv_set', { key: 'a', value: 1 }))['content'] as {
      text: string;
    }[];
    expect(content?.text).toContain(
      `UNAVAILABLE: The service can't take this right now. The gateway ${proxy.url}`,
    );
  });
});

describe('an address', () => {
  it.each(['/w/abc', '/a/abc', '/f/abc', '/v1/projects', '/v1/auth/start', '/v1/replica/changes'])(
    '%s is at the gateway',
    async (path) => {
      const { status, body } = await daemon.call('GET', path);
      expect([status, body]).toMatchObject([
        404,
        {
          error: {
            code: 'NOT_FOUND',
            hint: `Use the gateway for webhooks, links, pages and sign-in: ${proxy.url}`,
          },
        },
      ]);
    },
  );

  it('that leads nowhere leads nowhere', async () => {
    const { status, body } = await daemon.call('GET', '/v1/nothing');
    const error = { code: 'NOT_FOUND', hint: 'No route /v1/nothing.' };
    expect([status, body]).toMatchObject([404, { error }]);
  });

  it('of the document is here, with the addresses of both', async () => {
    const { body } = await daemon.call<{ servers: unknown; paths: Record<string, unknown> }>(
      'GET',
      '/v1/openapi.json',
    );
    expect(body.servers).toMatchObject([{ url: daemon.url }]);
    expect(body.paths['/w/{token}']).toMatchObject({ servers: [{ url: gateway.url }] });
  });
});
