import { afterAll, beforeAll, expect, it } from 'vitest';
import { run } from '../../../cli/run.ts';
import { TextSink } from '../../cli/fake-output.ts';
import { TestGateway } from '../../helpers/gateway.ts';
import { Agent } from '../api/mcp/agent.ts';

let gateway: TestGateway;
let agent: Agent;
beforeAll(async () => {
  gateway = await TestGateway.start();
  agent = new Agent(gateway.url, gateway.apiKey);
});
afterAll(() => gateway.stop());

async function svc(...argv: string[]): Promise<{ code: number; stderr: string }> {
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  const env = { ...process.env, SVC_GATEWAY: gateway.url, SVC_API_KEY: gateway.apiKey };
  const { signal } = new AbortController();
  return { code: await run(argv, { env, stdout, stderr, signal }), stderr: stderr.text };
}

async function tool(name: string, input: Record<string, unknown>) {
  return (await agent.modern('tools/call', { name, arguments: input })).result;
}

it.each([
  ['kv', 'kv_set', { key: 'lock', value: 'mine' }, { value: 'theirs' }, { key: 'lock' }],
  [
    'file',
    'file_put',
    { path: 'lock', content_base64: 'bWluZQ==' },
    { content_base64: 'dGhlaXJz' },
    { path: 'lock' },
  ],
] as const)(
  'keeps what is newer from a delete of an older version, by command and by tool: %s',
  async (noun, put, mine, theirs, name) => {
    const write = async (more: object) => {
      const { structuredContent } = await tool(put, { ...mine, ...more });
      return (structuredContent as { version: number }).version;
    };
    const older = await write({});
    const newer = await write(theirs);
    const { code, stderr } = await svc(noun, 'delete', 'lock', '--if-version', `${older}`);
    expect([code, stderr]).toEqual([1, expect.stringContaining('PRECONDITION_FAILED')]);
    const refused = await tool(`${noun}_delete`, { ...name, if_version: older });
    expect(refused).toMatchObject({ isError: true });
    expect(await svc(noun, 'delete', 'lock', '--if-version', `${newer}`)).toMatchObject({
      code: 0,
    });
    const again = await write({});
    const deleted = await tool(`${noun}_delete`, { ...name, if_version: again });
    expect(deleted).toMatchObject({ structuredContent: { deleted: true } });
  },
);
