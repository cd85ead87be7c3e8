import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { withTasks } from '@modelcontextprotocol/ext-tasks/client';
import { toJsonValue } from '@modelcontextprotocol/ext-tasks/core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { keyOf, runs, svc, svcUp } from '../../../helpers/daemon.ts';
import { linkToken, tokensOf } from '../../../helpers/outbox.ts';
import { visit } from '../../../helpers/page-visitor.ts';
import { runMark } from '../../../helpers/reaper.ts';
import { META } from './wire.ts';

type Fields = Record<string, unknown>;

interface Answer {
  readonly result?: Fields;
  readonly error?: { readonly code: number; readonly message: string };
}

const DECLARED = {
  ...META,
  'io.modelcontextprotocol/clientCapabilities': {
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
};
const PATIENCE_MS = 60_000;

/** An agent that takes tasks. */
interface TaskClient {
  send(method: string, params: object): Promise<Answer>;
}

/** `svc mcp` as a client runs it. */
class Bridge implements TaskClient {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, (answer: Answer) => void>();

  constructor(home: string) {
    this.#child = spawn(process.execPath, [resolve('dist/svc.cjs'), 'mcp'], {
      env: { ...process.env, ...runMark(), SVC_HOME: home },
    });
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      const answer = JSON.parse(line) as Answer & { id?: number };
      this.#waiting.get(Number(answer.id))?.(answer);
    });
  }

  send(method: string, params: object): Promise<Answer> {
    const id = this.#waiting.size + 1;
    const message = { jsonrpc: '2.0', id, method, params: { ...params, _meta: DECLARED } };
    return new Promise((done) => {
      this.#waiting.set(id, done);
      this.#child.stdin.write(`${JSON.stringify(message)}\n`);
    });
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

/** The same over HTTP. */
function overHttp(url: string, key: string): TaskClient {
  return {
    async send(method, params) {
      const given = params as { name?: string; taskId?: string };
      const answer = await fetch(`${url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': method,
          'mcp-name': given.name ?? given.taskId ?? '',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method,
          params: { ...params, _meta: DECLARED },
        }),
      });
      return (await answer.json()) as Answer;
    },
  };
}

let home: string;
let key: string;
let daemon: Awaited<ReturnType<typeof svcUp>>;
const bridges: Bridge[] = [];

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

function bridge(): Bridge {
  const started = new Bridge(home);
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
    const settled = execution.settle();
    await approveNewest(before);
    expect(JSON.stringify((await settled).outcome)).toContain('"status":"approved"');
  });
});
