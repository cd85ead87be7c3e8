import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operations } from '../../../../shared/operations/index.ts';
import { SCOPES, type Scope } from '../../../../shared/lib/scopes.ts';
import { FakeExecutor, serveMcp, type Served } from './fake.ts';
import { wireTo } from './wire.ts';

const NAMES = new Set(operations.map(({ name }) => name));

let executor: FakeExecutor;
let served: Served;

beforeEach(async () => {
  executor = new FakeExecutor();
  executor.scopes = [...SCOPES];
  served = await serveMcp(executor, operations, {});
});
afterEach(() => served.close());

interface Introduction {
  readonly instructions: string;
  /** All that a model reads before its first call. */
  readonly read: string;
  readonly offered: readonly string[];
  readonly bytes: number;
}

/** What an agent reads at an address, before it calls a tool. */
async function introduction(
  part: string,
  scopes: readonly Scope[] = SCOPES,
): Promise<Introduction> {
  executor.scopes = [...scopes];
  const client = new Client({ name: 'official', version: '1.0.0' });
  const requestInit = { headers: { authorization: 'Bearer good' } };
  const url = new URL(`${served.url.href}${part}`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  try {
    const { tools } = await client.listTools();
    const { prompts } = await client.listPrompts();
    const given = { type: 'a.b', task_id: 'a', action: 'Run.' };
    const started = await Promise.all(
      prompts.map(({ name }) => client.getPrompt({ name, arguments: given })),
    );
    const instructions = client.getInstructions() ?? '';
    return {
      instructions,
      read: [instructions, JSON.stringify([tools, prompts, started])].join('\n'),
      offered: tools.map(({ name }) => name),
      bytes: Buffer.byteLength(JSON.stringify(tools)),
    };
  } finally {
    await client.close();
  }
}

function missing({ read, offered }: Introduction): string[] {
  // A policy's rules name these two, whoever may call them.
  const known = new Set([...offered, 'file_url', 'email_send']);
  const named = read.match(/[a-z]+(?:_[a-z]+)+/g) ?? [];
  return [...new Set(named)].filter((name) => NAMES.has(name) && !known.has(name));
}

describe('what an agent reads names no tool that it does not have', () => {
  it.each([
    [''],
    ['?tools=inbox,ask'],
    ['?tools=inbox'],
    ['?tools=ask'],
    ['?tools=disk'],
    ['?tools=email'],
    ['?tools=ledger'],
    ['?tools=policy'],
    ['?tools=source,session'],
    ['?tools=inbox_wait,inbox_ack'],
    ['?tools=inbox_list'],
    ['?tools=inbox_nack'],
    ['?tools=ask_human'],
    ['?tools=request_status'],
    ['?tools=state_load'],
    ['/readonly'],
    ['/readonly?tools=inbox,disk'],
  ])('at /mcp%s', async (part) => {
    expect(missing(await introduction(part))).toEqual([]);
  });

  it.each(SCOPES.map((scope) => [scope]))('with a key that may %s', async (scope) => {
    expect(missing(await introduction('', [scope]))).toEqual([]);
  });
});

describe('the instructions', () => {
  it('are those of the whole service at the whole address', async () => {
    const { instructions } = await introduction('');
    const titles = instructions.split('\n').map((line) => line.split(':', 1)[0]);
    expect(titles).toEqual(expect.arrayContaining(['Inbox', 'People', 'Disk', 'Mail', 'Ledger']));
    expect(instructions).toContain('Do the work, then inbox_ack.');
  });

  it('tell a reader of no claim, and an agent without people to ask of no question', async () => {
    const { instructions } = await introduction('/readonly');
    expect(instructions).not.toContain('claim');
    const inbox = await introduction('?tools=inbox');
    expect(inbox.instructions).toContain('inbox_wait with claim takes the next event.');
    expect(inbox.instructions).not.toMatch(/People|park|denied|Mail:|Disk:/);
  });

  it('are told in each revision to the key that asks', async () => {
    executor.scopes = ['disk'];
    const { json } = await wireTo(() => served).modern('server/discover');
    const result = json.result as Record<string, unknown>;
    expect(result).toMatchObject({
      instructions: expect.stringContaining('Disk: state_save'),
      cacheScope: 'private',
    });
    expect(result['instructions']).not.toContain('inbox_wait');
  });
});

describe('prompts', () => {
  it('are offered with the tools that they need', async () => {
    expect((await introduction('?tools=disk')).read).not.toContain('work_inbox');
    expect((await introduction('?tools=inbox')).read).toContain('work_inbox');
  });

  it('keep what a person typed, whatever it names', async () => {
    executor.scopes = ['approvals'];
    const client = new Client({ name: 'official', version: '1.0.0' });
    const requestInit = { headers: { authorization: 'Bearer good' } };
    await client.connect(new StreamableHTTPClientTransport(served.url, { requestInit }));
    const action = 'Stop. Then kv_delete the key a. Done.';
    const { messages } = await client.getPrompt({ name: 'ask_first', arguments: { action } });
    expect(JSON.stringify(messages)).toContain('Stop. Then kv_delete the key a. Done.');
    await client.close();
  });
});

describe('the list of tools', () => {
  it('costs an agent at most 48 KB, and 16 KB for the inbox and people', async () => {
    expect((await introduction('')).bytes).toBeLessThanOrEqual(48 * 1024);
    expect((await introduction('?tools=inbox,ask')).bytes).toBeLessThanOrEqual(16 * 1024);
  });

  it('has what an agent needs for its job', async () => {
    const { offered } = await introduction('');
    const needed = ['inbox_get', 'inbox_extend', 'inbox_requeue', 'request_withdraw'];
    expect(offered).toEqual(expect.arrayContaining([...needed, 'email_status']));
  });
});
