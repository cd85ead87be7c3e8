import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { runMark } from './reaper.ts';

type Fields = Record<string, unknown>;

export interface TaskAnswer {
  readonly result?: Fields;
  readonly error?: { readonly code: number; readonly message: string };
}

/** What a client says of itself that takes tasks. */
const DECLARED = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test-client', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
};
const PATIENCE_MS = 120_000;

/** An agent that takes tasks. */
export interface TaskClient {
  send(method: string, params: object): Promise<TaskAnswer>;
}

/** `svc mcp` as a client runs it. */
export class McpProcess implements TaskClient {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, (answer: TaskAnswer) => void>();
  /** What it said without being asked, oldest first. */
  readonly told: Fields[] = [];
  #count = 0;

  constructor(home: string, env: Readonly<Record<string, string>> = {}) {
    this.#child = spawn(process.execPath, [resolve('dist/svc.cjs'), 'mcp'], {
      env: { ...process.env, ...runMark(), ...env, SVC_HOME: home },
    });
    // A killed one takes no more input.
    this.#child.stdin.on('error', () => undefined);
    this.#child.once('exit', () => {
      for (const [id, done] of this.#waiting) {
        this.#waiting.delete(id);
        done({ error: { code: 0, message: 'The process has ended.' } });
      }
    });
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      const message = JSON.parse(line) as TaskAnswer & { id?: number; method?: string };
      if (message.method !== undefined) this.told.push(message as unknown as Fields);
      else this.#waiting.get(Number(message.id))?.(message);
    });
  }

  send(method: string, params: object): Promise<TaskAnswer> {
    const id = (this.#count += 1);
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
export function overHttp(url: string, key: string): TaskClient {
  return {
    async send(method, params) {
      const { name, taskId } = params as { name?: string; taskId?: string };
      const subject = Buffer.from(name ?? taskId ?? '').toString('base64');
      const answer = await fetch(`${url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': method,
          'mcp-name': `=?base64?${subject}?=`,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method,
          params: { ...params, _meta: DECLARED },
        }),
      });
      const text = await answer.text();
      // A held answer comes as a stream.
      return JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text) as TaskAnswer;
    },
  };
}

/** The result of a task once it has one, byte for byte, however often it has to be asked for. */
export async function settled(taskId: string, by: () => TaskClient): Promise<string> {
  const endsAt = performance.now() + PATIENCE_MS;
  let latest: unknown = null;
  while (performance.now() < endsAt) {
    const answer = await by()
      .send('tasks/get', { taskId })
      .catch((error: unknown) => ({ result: undefined, error }));
    if (answer.result?.['status'] === 'completed') return JSON.stringify(answer.result['result']);
    latest = answer;
    await sleep(20);
  }
  throw new Error(`It never ended: ${JSON.stringify(latest)}`);
}
