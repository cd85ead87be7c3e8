import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withTasks } from '@modelcontextprotocol/ext-tasks/client';
import { toJsonValue } from '@modelcontextprotocol/ext-tasks/core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { keyOf, runs, svc, svcUp } from '../../../helpers/daemon.ts';
import { linkToken, tokensOf } from '../../../helpers/outbox.ts';
import { visit } from '../../../helpers/page-visitor.ts';
import { McpProcess, overHttp, settled, type TaskClient } from '../../../helpers/task-client.ts';

const PATIENCE_MS = 60_000;

let home: string;
let key: string;
let daemon: Awaited<ReturnType<typeof svcUp>>;
const bridges: McpProcess[] = [];

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'svc-tasks-'));
  daemon = await svcUp(home);
  key = await keyOf(home);
});
afterEach(() => {
  for (const one of bridges.splice(0)) one.kill();
});
afterAll(async () => {
  await svc(home, ['down']);
  rmSync(home, { recursive: true, force: true });
});

function bridge(): McpProcess {
  const started = new McpProcess(home);
  bridges.push(started);
  return started;
}

const ask = (by: TaskClient, action: string) =>
  by.send('tools/call', { name: 'ask_approval', arguments: { action, summary: action } });

async function approveNewest(asked: number): Promise<void> {
  const token = await linkToken(join(home, 'data'), 'a', asked + 1);
  const { base_url: base } = JSON.parse(await svc(home, ['status', '--json'])) as {
    base_url: string;
  };
  await visit(`${base}/a/${token}`, { button: 'Approve' });
}

async function killed(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => runs(pid), { timeout: PATIENCE_MS }).toBe(false);
}

describe('a task', () => {
  it('outlives the daemon and the bridge that are killed while somebody waits for it', async () => {
    const before = tokensOf(join(home, 'data'), 'a').length;
    const first = bridge();
    const { taskId } = (await ask(first, 'deploy.killed')).result ?? {};
    expect(taskId).toMatch(/^req_/);
    const held = first.send('tasks/get', { taskId });
    // The daemon dies, perhaps while it holds that; the bridge starts another and asks again.
    await killed(daemon.pid);
    expect((await held).result).toMatchObject({ taskId, status: 'working' });
    await approveNewest(before);
    const decided = await first.send('tasks/get', { taskId });
    expect(decided.result).toMatchObject({
      status: 'completed',
      result: { structuredContent: { status: 'approved' } },
    });
    first.kill();
    daemon = await svcUp(home);
    await killed(daemon.pid);
    const again = await bridge().send('tasks/get', { taskId });
    expect(JSON.stringify(again.result)).toBe(JSON.stringify(decided.result));
    daemon = await svcUp(home);
  });
});

describe('a wait over svc mcp', () => {
  it.each([true, false])(
    'is told when its event is there, and reads it: claim %s',
    async (claim) => {
      const added = await fetch(`${daemon.base_url}/v1/sources`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ type: 'webhook', name: `hook-${claim ? 'claims' : 'reads'}` }),
      });
      const { url, name } = (await added.json()) as { url: string; name: string };
      const by = bridge();
      const input = { source: name, ...(claim && { claim }) };
      const { result } = await by.send('tools/call', { name: 'inbox_wait', arguments: input });
      const taskId = String(result?.['taskId']);
      void by.send('subscriptions/listen', { notifications: { taskIds: [taskId] } });
      await expect.poll(() => by.told.length).toBe(1);
      await fetch(url, { method: 'POST', body: '{"order":7}' });
      await expect.poll(() => by.told.length).toBe(2);
      expect(by.told[1]).toMatchObject({
        method: 'notifications/tasks',
        params: { taskId, status: 'working', statusMessage: 'tasks/get has the answer.' },
      });
      const read = await settled(taskId, () => by);
      expect(read).toContain('order');
      expect(await settled(taskId, () => overHttp(daemon.base_url, key))).toBe(read);
    },
  );
});

describe("the extension's own client", () => {
  it.each(['HTTP', 'stdio'])('goes on with the decision, over %s', async (road) => {
    const before = tokensOf(join(home, 'data'), 'a').length;
    const by = road === 'HTTP' ? overHttp(daemon.base_url, key) : bridge();
    const session = withTasks({
      endpointId: 'svc',
      taskCapabilities: { generation: 'v2', capabilities: {} },
      invalidated: false,
      dispatch: async (request) => {
        const { method, params } = request as { method: string; params: object };
        const { result, error } = await by.send(method, params);
        return error ? { kind: 'error', error } : { kind: 'result', result: toJsonValue(result) };
      },
      onServerRequest: () => () => undefined,
      onNotification: () => () => undefined,
      onInvalidated: () => () => undefined,
    });
    const input = { action: `deploy.${road}`, summary: `Deploy over ${road}` };
    const execution = await session.callTool('ask_approval', input);
    expect(execution.kind).toBe('task');
    const ended = execution.settle();
    await approveNewest(before);
    expect(JSON.stringify((await ended).outcome)).toContain('"status":"approved"');
  });
});
