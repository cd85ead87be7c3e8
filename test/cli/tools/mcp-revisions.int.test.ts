import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestGateway } from '../../helpers/gateway.ts';
import { META } from '../../shared/api/mcp/wire.ts';
import { startBridge } from './mcp-stdio.ts';

const VERSIONS = ['2026-07-28'];
const PREFIX = 'io.modelcontextprotocol/';

let gateway: TestGateway;
let running: ReturnType<typeof startBridge>;

beforeAll(async () => {
  gateway = await TestGateway.start();
});
afterAll(() => gateway.stop());
beforeEach(() => {
  running = startBridge(gateway.url, gateway.apiKey);
});
afterEach(async () => {
  running.input.end();
  await running.done;
});

const modern = (method: string, params: object = {}, meta: object = META) =>
  running.ask(method, { _meta: meta, ...params });

describe('revision 2026-07-28 over standard input and output', () => {
  it('needs no beginning', async () => {
    const { result } = await modern('server/discover');
    expect(result).toMatchObject({
      resultType: 'complete',
      supportedVersions: VERSIONS,
      capabilities: { resources: { subscribe: true, listChanged: true } },
      ttlMs: 300_000,
      cacheScope: 'private',
    });
  });

  it('names the versions there are to who asks for another one', async () => {
    const meta = { ...META, [`${PREFIX}protocolVersion`]: '2099-01-01' };
    expect(await modern('server/discover', {}, meta)).toMatchObject({
      error: { code: -32_022, data: { supported: VERSIONS, requested: '2099-01-01' } },
    });
  });

  it('refuses a request that does not say what its client can', async () => {
    const meta = { ...META, [`${PREFIX}clientCapabilities`]: undefined };
    expect(await modern('tools/list', {}, meta)).toMatchObject({ error: { code: -32_602 } });
  });

  it.each(['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'nonsense'])(
    'does not know %s',
    async (method) => {
      const answer = await modern(method, { uri: 'kv://a' });
      expect(answer).toMatchObject({ error: { code: -32_601, message: 'Method not found' } });
    },
  );

  it('calls tools, and reads what has a name that no header could hold', async () => {
    const input = { key: 'größe\u2028', value: 1 };
    const { result } = await modern('tools/call', { name: 'kv_set', arguments: input });
    expect(result).toMatchObject({ resultType: 'complete', isError: false });
    for (const uri of ['kv://größe\u2028', 'kv://gr%C3%B6%C3%9Fe%E2%80%A8']) {
      const read = await modern('resources/read', { uri });
      expect(read.result).toMatchObject({ contents: [{ uri, text: '1' }] });
    }
    expect(await modern('resources/read', { uri: 'kv://nothing' })).toMatchObject({
      error: { code: -32_602, message: 'Resource not found', data: { uri: 'kv://nothing' } },
    });
    const prompt = await modern('prompts/get', { name: 'work_inbox' });
    expect(prompt.result).toMatchObject({ messages: [{ role: 'user' }] });
  });
});

describe('the revisions with initialize over standard input and output', () => {
  it.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2024-11-05', '2025-11-25'],
  ])('begin with %s as %s', async (asked, answered) => {
    const clientInfo = { name: 'x', version: '1' };
    const params = { protocolVersion: asked, capabilities: {}, clientInfo };
    const { result } = await running.ask('initialize', params);
    expect(result).toMatchObject({ protocolVersion: answered });
    running.send({ method: 'notifications/initialized' });
    const listed = await running.ask('tools/list');
    expect(Object.keys(listed.result ?? {})).toEqual(['tools']);
    expect(await running.ask('resources/read', { uri: 'kv://nothing' })).toMatchObject({
      error: { code: -32_602, data: { uri: 'kv://nothing' } },
    });
    expect(await running.ask('server/discover')).toMatchObject({ error: { code: -32_601 } });
  });

  it('are served beside the newer one', async () => {
    await running.ask('initialize', { protocolVersion: '2025-06-18', capabilities: {} });
    const [older, newer] = await Promise.all([running.ask('tools/list'), modern('tools/list')]);
    expect(older.result).not.toHaveProperty('ttlMs');
    expect(newer.result).toMatchObject({ resultType: 'complete', cacheScope: 'private' });
  });
});
