import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeExecutor, serveMcp, testOperations, type Served } from './fake.ts';
import { META, rpc, wireTo, type HeaderMap } from './wire.ts';

const VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'];

let executor: FakeExecutor;
let served: Served;
const { post, legacy, modern } = wireTo(() => served);

beforeEach(async () => {
  executor = new FakeExecutor();
  served = await serveMcp(executor, testOperations, {
    allowedOrigin: (origin) => origin === 'https://good.example',
  });
});

afterEach(() => served.close());

describe('revisions with initialize', () => {
  it.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2025-03-26', '2025-03-26'],
    ['2024-11-05', '2025-11-25'],
    ['2026-07-28', '2025-11-25'],
  ])('answers %s with %s', async (asked, answered) => {
    const { status, headers, json } = await post(
      rpc('initialize', {
        protocolVersion: asked,
        capabilities: {},
        clientInfo: { name: 'x', version: '1' },
      }),
    );
    expect(status).toBe(200);
    expect(headers.get('mcp-session-id')).toMatch(/^[\x21-\x7e]{20,200}$/);
    expect(json.result).toEqual({
      protocolVersion: answered,
      // No stream would carry what changed: there are no sessions.
      capabilities: {
        tools: { listChanged: false },
        resources: {},
        prompts: { listChanged: false },
        completions: {},
      },
      serverInfo: { name: 'svc', version: '1.2.3' },
      instructions: expect.any(String),
    });
  });

  it('refuses an initialize that says too little, as no fault of ours', async () => {
    const answer = await post(rpc('initialize', { protocolVersion: '2025-11-25' }));
    expect(answer).toMatchObject({ status: 200, json: { id: 1, error: { code: -32_602 } } });
    expect(answer.headers.get('mcp-session-id')).toBeNull();
  });

  it('accepts notifications without a body', async () => {
    for (const method of ['notifications/initialized', 'notifications/cancelled']) {
      const answer = await post({ jsonrpc: '2.0', method });
      expect(answer).toMatchObject({ status: 202, text: '' });
      expect(answer.headers.get('x-request-id')).toMatch(/^\w{16}$/);
    }
  });

  it('answers ping', async () => {
    expect((await legacy('ping')).json).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });

  it('lists tools by scope, without anything newer', async () => {
    const { json } = await legacy('tools/list');
    expect(Object.keys(json.result)).toEqual(['tools']);
    const names = json.result.tools.map((tool: { name: string }) => tool.name);
    expect(names).toEqual(['test_echo', 'test_wait', 'test_ask', 'test_fail', 'test_find']);
  });

  it('knows no other method, and says so within JSON-RPC', async () => {
    const methods = ['server/discover', 'subscriptions/listen', 'resources/subscribe', 'nonsense'];
    for (const method of methods) {
      expect(await legacy(method)).toMatchObject({
        status: 200,
        json: { error: { code: -32_601 } },
      });
    }
  });
});

describe('revision 2026-07-28', () => {
  it('describes itself', async () => {
    const { status, json } = await modern('server/discover');
    expect(status).toBe(200);
    expect(json.result).toEqual({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: {
        tools: { listChanged: false },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: false },
        completions: {},
        extensions: { 'io.modelcontextprotocol/tasks': {} },
      },
      instructions: expect.any(String),
      ttlMs: 300_000,
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'svc', version: '1.2.3' } },
    });
  });

  it('lists tools with hints for caches', async () => {
    const { json } = await modern('tools/list');
    expect(json.result).toMatchObject({
      resultType: 'complete',
      ttlMs: 300_000,
      cacheScope: 'private',
    });
    expect(json.result).not.toHaveProperty('nextCursor');
  });

  it.each(['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'nonsense'])(
    'does not know %s',
    async (method) => {
      const answer = await modern(method);
      expect(answer).toMatchObject({ status: 404, json: { id: 1, error: { code: -32_601 } } });
    },
  );

  it('names the versions it speaks', async () => {
    const meta = { ...META, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
    const newer = { 'mcp-protocol-version': '2099-01-01' };
    expect(await modern('tools/list', { _meta: meta }, newer)).toMatchObject({
      status: 400,
      json: {
        id: 1,
        error: { code: -32_022, data: { supported: ['2026-07-28'], requested: '2099-01-01' } },
      },
    });
    expect(await post(rpc('tools/list'), newer)).toMatchObject({
      status: 400,
      json: { id: 1, error: { code: -32_602 } },
    });
    const older = { 'mcp-protocol-version': '2024-11-05' };
    expect(await post(rpc('tools/list'), older)).toMatchObject({
      status: 400,
      json: {
        id: 1,
        error: { code: -32_022, data: { supported: VERSIONS, requested: '2024-11-05' } },
      },
    });
  });

  it.each<[string, HeaderMap]>([
    ['another version', { 'mcp-protocol-version': '2025-11-25' }],
    ['another method', { 'mcp-method': 'tools/list' }],
    ['a method in capitals', { 'mcp-method': 'TOOLS/CALL' }],
    ['another name', { 'mcp-name': 'test_fail' }],
  ])('refuses headers that name %s', async (_case, headers) => {
    const answer = await modern('tools/call', { name: 'test_echo' }, headers);
    expect(answer).toMatchObject({ status: 400, json: { id: 1, error: { code: -32_020 } } });
    expect(executor.callers).toEqual([]);
  });

  it.each(['mcp-protocol-version', 'mcp-method', 'mcp-name'])('misses %s', async (name) => {
    const all: HeaderMap = {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'test_echo',
    };
    const { [name]: _left, ...headers } = all;
    const answer = await post(rpc('tools/call', { name: 'test_echo', _meta: META }), headers);
    expect(answer).toMatchObject({ status: 400, json: { error: { code: -32_020 } } });
  });

  it.each([
    ['prompts/get', { name: 'work_inbox' }, 'ask_first'],
    ['resources/read', { uri: 'kv://a' }, 'kv://b'],
  ])('has %s named in a header, too', async (method, params, other) => {
    for (const headers of [{ 'mcp-name': other }, { 'mcp-name': '' }]) {
      const answer = await modern(method, params, headers);
      expect(answer).toMatchObject({ status: 400, json: { error: { code: -32_020 } } });
    }
    expect(executor.callers).toEqual([]);
  });

  it('reads names that came in base64, and spaces around them', async () => {
    const encoded = `=?base64?${Buffer.from('test_echo').toString('base64')}?=`;
    const params = { name: 'test_echo', arguments: { text: 'hi' } };
    expect((await modern('tools/call', params, { 'mcp-name': encoded })).status).toBe(200);
    expect((await modern('tools/call', params, { 'mcp-name': '  test_echo  ' })).status).toBe(200);
  });

  it.each([
    ['_meta', undefined],
    ['the version', { ...META, 'io.modelcontextprotocol/protocolVersion': undefined }],
    ['capabilities', { ...META, 'io.modelcontextprotocol/clientCapabilities': undefined }],
  ])('refuses a request without %s', async (_case, meta) => {
    const answer = await modern('server/discover', { _meta: meta });
    expect(answer).toMatchObject({ status: 400, json: { id: 1, error: { code: -32_602 } } });
  });

  it('serves a client that does not name itself', async () => {
    const meta = { ...META, 'io.modelcontextprotocol/clientInfo': undefined };
    expect((await modern('server/discover', { _meta: meta })).status).toBe(200);
  });
});

describe('messages', () => {
  it.each([
    ['', -32_700],
    ['{', -32_700],
    ['['.repeat(200), -32_700],
    ['[]', -32_600],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32_600],
    ['null', -32_600],
    ['{"id":1,"method":"ping"}', -32_600],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32_600],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32_600],
    ['{"jsonrpc":"2.0","id":1,"result":{}}', -32_600],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32_600],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":7}}', -32_600],
  ])('refuses %s', async (body, code) => {
    const answer = await post(body);
    expect(answer).toMatchObject({ status: 400, json: { jsonrpc: '2.0', error: { code } } });
    expect(executor.metered).toBe(1);
  });

  it('refuses other methods of HTTP', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const response = await fetch(served.url, { method });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('POST');
      expect(response.headers.get('x-request-id')).toMatch(/^\w{16}$/);
    }
  });

  it('refuses a body over 2 MB, whether its length was told or not', async () => {
    const big = rpc('ping', { text: 'x'.repeat(2 * 1024 * 1024) });
    const told = await post(big);
    expect(told).toMatchObject({ status: 413, json: { error: { code: 413 } } });
    expect(told.json.error.message).toMatch(/^PAYLOAD_TOO_LARGE: /);
    expect(await postInChunks(JSON.stringify(big))).toBe(413);
    expect(await postInChunks(JSON.stringify(rpc('ping')))).toBe(200);
  });

  it('keeps an upload that was broken off out of the log', async () => {
    const sent = request(served.url, {
      method: 'POST',
      headers: { authorization: 'Bearer good', 'content-length': '1000' },
    });
    sent.on('error', () => {});
    sent.write('{');
    await vi.waitFor(() => expect(executor.credentials).toHaveLength(1), { timeout: 60_000 });
    sent.destroy();
    await vi.waitFor(() => expect(executor.metered).toBe(1), { timeout: 60_000 });
    expect(served.internal).toEqual([]);
  });

  it('refuses a compressed body', async () => {
    expect((await post(rpc('ping'), { 'content-encoding': 'gzip' })).status).toBe(415);
  });

  it('lets only known browsers in', async () => {
    expect((await post(rpc('ping'), { origin: 'https://evil.example' })).status).toBe(403);
    expect(executor.credentials).toEqual([]);
    expect((await post(rpc('ping'), { origin: 'https://good.example' })).status).toBe(200);
  });
});

function postInChunks(body: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const sent = request(served.url, {
      method: 'POST',
      headers: { authorization: 'Bearer good', 'transfer-encoding': 'chunked' },
    });
    sent.on('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    // The refusal may come before all is sent.
    sent.on('error', () => {});
    sent.end(body);
  });
}
