import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../helpers/gateway.ts';

let gateway: TestGateway;
let client: Client;

beforeAll(async () => {
  gateway = await TestGateway.start();
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

const call = (name: string, input: Record<string, unknown>) =>
  client.callTool({ name, arguments: input });

/** What the model reads of an answer. */
async function textOf(name: string, input: Record<string, unknown>): Promise<string> {
  const { content } = (await call(name, input)) as { content: { text: string }[] };
  return content.map(({ text }) => text).join('\n');
}

describe('a refusal', () => {
  it.each<[string, Record<string, unknown>, string]>([
    [
      'inbox_claim',
      {},
      'VALIDATION_FAILED: The request is invalid. event_id: This field is required. Fix the listed fields.',
    ],
    [
      'inbox_list',
      { limit: 101, status: 'lost' },
      'VALIDATION_FAILED: The request is invalid. status: Must be one of `pending`, `claimed`, `done`, `failed`, `dead`. limit: Must be at most 100. Fix the listed fields.',
    ],
    [
      'inbox_claim',
      { event_id: 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3' },
      'NOT_FOUND: Not found. No event evt_01j9z3k4m5n6p7q8r9s0t1v2w3 in this project.',
    ],
    ['file_get', { path: 'a b' }, 'NOT_FOUND: Not found. No file "a b" in this project.'],
    [
      'policy_set',
      { policy: null },
      'POLICY_INVALID: The policy document is invalid. policy: Write an object such as `{"rules": []}`.',
    ],
    [
      'policy_set',
      { policy: { rules: [{ effect: 'maybe' }] } },
      'POLICY_INVALID: The policy document is invalid. rules[0].effect: Write one of allow, deny, require_approval, auto_approve, auto_approve_notify.',
    ],
    [
      'policy_set',
      {},
      'VALIDATION_FAILED: The request is invalid. policy: This field is required. Fix the listed fields.',
    ],
  ])('of %s with %j says what to do, in whole sentences', async (name, input, text) => {
    expect(await textOf(name, input)).toBe(text);
  });
});
