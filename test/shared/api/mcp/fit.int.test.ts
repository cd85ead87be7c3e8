import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../../helpers/gateway.ts';

/** Claude Code refuses more than 25,000 tokens. */
const TEXT_MAX_BYTES = 60_000;
const EVENTS = 100;
const LONG_NAME = 'long-'.repeat(90);

let gateway: TestGateway;
let client: Client;
let hook: string;

beforeAll(async () => {
  gateway = await TestGateway.start();
  hook = await gateway.addSource({ name: 'shop' });
  client = new Client({ name: 'official', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${gateway.apiKey}` } };
  const url = new URL(`${gateway.url}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  // From here on it checks every answer against the schema of its tool.
  await client.listTools();
});
afterAll(async () => {
  await client.close();
  await gateway.stop();
});

type Fields = Record<string, unknown>;

interface Shown {
  readonly text: string;
  readonly items: readonly (Fields & { readonly untrusted: Fields })[];
  readonly answer: Fields;
}

async function shown(name: string, input: Fields): Promise<Shown> {
  const { content, structuredContent } = await client.callTool({ name, arguments: input });
  const [{ text } = { text: '' }] = content as { text: string }[];
  const answer = structuredContent as Fields;
  return { text, answer, items: (answer['items'] ?? []) as Shown['items'] };
}

const deliver = (body: object) =>
  gateway.deliver(hook, JSON.stringify(body), { 'x-transport': 'v'.repeat(300) });

describe('a long list of events', () => {
  beforeAll(async () => {
    for (let n = 0; n < EVENTS; n += 1) {
      await deliver({ type: 'order.paid', n, text: `<<<${'x'.repeat(2000)}` });
    }
  });

  it('fits into what clients take, and says how to get the rest', async () => {
    const { text, items, answer } = await shown('inbox_list', { limit: 100 });
    expect(Buffer.byteLength(text)).toBeLessThan(TEXT_MAX_BYTES);
    const whole = items.filter((event) => event['payload_truncated'] === false);
    expect(whole.length).toBeGreaterThan(3);
    expect(items.slice(0, whole.length)).toEqual(whole);
    const cut = items.slice(whole.length);
    expect(cut.length).toBeGreaterThan(30);
    expect(cut.every(({ untrusted }) => untrusted['payload'] === null)).toBe(true);
    expect(answer['note']).toContain('read one with inbox_get, or list fewer with limit');
    expect(text).toContain(String(answer['note']));
  });

  it('is whole over its pages', async () => {
    const ids = new Set<unknown>();
    let cursor: unknown;
    do {
      const page = await shown('inbox_list', { limit: 100, ...(cursor ? { cursor } : {}) });
      expect(Buffer.byteLength(page.text)).toBeLessThan(TEXT_MAX_BYTES);
      for (const { id } of page.items) ids.add(id);
      cursor = page.answer['next_cursor'];
    } while (cursor !== null);
    expect(ids.size).toBe(EVENTS);
  });

  it('comes without the headers of the transport, and a claim with them', async () => {
    const { text, items } = await shown('inbox_list', { limit: 1 });
    expect(text).not.toContain('x-transport');
    expect(items[0]?.untrusted).toHaveProperty('payload');
    const claimed = await shown('inbox_claim', { event_id: items[0]?.['id'] });
    expect(claimed.text.includes('x-transport')).toBe(true);
  });

  it('that is short says nothing of it', async () => {
    const { answer } = await shown('inbox_list', { limit: 3 });
    expect(answer).not.toHaveProperty('note');
  });
});

it('a claimed event stays whole', async () => {
  const big = await gateway.addSource({ name: 'big' });
  const whole = 'y'.repeat(200_000);
  const { body } = await gateway.deliver(big, JSON.stringify({ n: 1, whole }));
  const claimed = await shown('inbox_claim', { event_id: body['event_id'] });
  expect(claimed.text.includes(whole)).toBe(true);
  await gateway.deliver(big, JSON.stringify({ n: 2, whole }));
  const next = await shown('inbox_wait', { source: 'big', claim: true });
  expect(next.text.includes(whole)).toBe(true);
});

describe('other long lists', () => {
  it('have fewer items, and go on by their cursor', async () => {
    for (let n = 0; n < 100; n += 1) {
      await gateway.call('PUT', `/v1/files/${LONG_NAME}${n}`, { body: 'x' });
    }
    const paths = new Set<unknown>();
    let cursor: unknown;
    do {
      const page = await shown('file_list', { limit: 100, ...(cursor ? { cursor } : {}) });
      expect(Buffer.byteLength(page.text)).toBeLessThan(TEXT_MAX_BYTES);
      for (const { path } of page.items) paths.add(path);
      cursor = page.answer['next_cursor'];
    } while (cursor !== null);
    expect(paths.size).toBe(100);
    const { text, answer } = await shown('ledger_query', { limit: 500 });
    expect(Buffer.byteLength(text)).toBeLessThan(TEXT_MAX_BYTES);
    expect(answer['note']).toMatch(/^Only \d+ of \d+ fit into this answer; next_cursor goes on\.$/);
    expect(answer['next_cursor']).toEqual(expect.any(Number));
  });
});
