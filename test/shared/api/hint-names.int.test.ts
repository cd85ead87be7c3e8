import { afterAll, beforeAll, expect, it } from 'vitest';
import { run } from '../../../cli/run.ts';
import { TextSink } from '../../cli/fake-output.ts';
import { TestGateway } from '../../helpers/gateway.ts';
import { callTool } from '../../helpers/tool-call.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start();
});
afterAll(() => gateway.stop());

const asked = { action: 'deploy', wait_seconds: 0 };

it('the hint of a question names routes over REST, tools over MCP, and commands on a command line', async () => {
  const rest = await gateway.call<{ hint: string }>('POST', '/v1/requests', {
    body: { ...asked, summary: 'Deploy v1' },
  });
  expect(rest.body.hint).toContain('PUT /v1/state/{task_id}, then call GET /v1/requests/{id}');
  const { value } = await callTool(gateway, 'ask_approval', { ...asked, summary: 'Deploy v2' });
  expect(value['hint']).toContain('state_save, then call request_status');
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  const env = { SVC_GATEWAY: gateway.url, SVC_API_KEY: gateway.apiKey, SVC_HOME: gateway.folder };
  const line = ['ask', 'approval', 'deploy', 'Deploy v3', '--wait', '0', '--json'];
  expect(await run(line, { env, stdout, stderr, signal: new AbortController().signal })).toBe(6);
  const { hint } = JSON.parse(stdout.text) as { hint: string };
  expect(hint).toContain('svc state save, then call svc request status');
  expect(hint).not.toMatch(/state_save|request_status|\/v1/);
});
