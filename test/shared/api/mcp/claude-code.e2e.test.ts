import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CLAUDE_CODE, ClaudeCode, claudeHome } from '../../../helpers/claude-code.ts';
import { svc, svcUp } from '../../../helpers/daemon.ts';
import { temporaryFolder } from '../../../helpers/gateway.ts';
import { linkToken, tokensOf } from '../../../helpers/outbox.ts';
import { visit } from '../../../helpers/page-visitor.ts';
import type { ModelStep } from '../../../helpers/scripted-model.ts';
import { McpProcess, settled } from '../../../helpers/task-client.ts';

type Fields = Readonly<Record<string, unknown>>;

const PATIENCE = { timeout: 120_000 };
const ASK = { action: 'deploy', summary: 'Deploy v2' };

const folder = temporaryFolder();
const home = join(folder.path, 'svc');
const data = join(home, 'data');
const servers = join(folder.path, 'mcp.json');
let base: string;
const sessions: ClaudeCode[] = [];

/** A session of a user, which ends with its test. */
async function session(
  user: string,
  steps: readonly ModelStep[],
  ...more: string[]
): Promise<ClaudeCode> {
  const flags = ['--mcp-config', servers, '--allowedTools', "'mcp__svc__*'", ...more];
  const claude = await ClaudeCode.start({ home: user, steps, flags });
  sessions.push(claude);
  return claude;
}

/** A session whose model has called a tool that waits, and has ended its turn. */
async function idle(user: string, tool: string, input: object): Promise<ClaudeCode> {
  const claude = await session(user, [
    { tool: `mcp__svc__${tool}`, input },
    { text: 'I end my turn.' },
    { text: 'I went on.' },
  ]);
  await claude.says('Goahead');
  await claude.shows('I end my turn.');
  expect(claude.model.told).toHaveLength(2);
  return claude;
}

/** The session was left, and is gone on with. */
function resumed(user: string): Promise<ClaudeCode> {
  return session(user, [{ text: 'I went on.' }], '--continue');
}

async function jsonOf(...args: string[]): Promise<Fields> {
  return JSON.parse(await svc(home, [...args, '--json'])) as Fields;
}

async function addSource(name: string): Promise<string> {
  return String((await jsonOf('source', 'add', name))['url']);
}

async function deliver(url: string, body: string): Promise<void> {
  const { status } = await fetch(url, { method: 'POST', body });
  expect(status).toBe(200);
}

/** The newest link of a mail, once there are more of them. */
async function pageAfter(links: number): Promise<string> {
  return `${base}/a/${await linkToken(data, 'a', links + 1)}`;
}

const linksSoFar = (): number => tokensOf(data, 'a').length;

/** The one event of a source. */
async function eventOf(source: string): Promise<Fields> {
  const { items } = await jsonOf('inbox', 'list', '--source', source, '--status', 'all');
  const [event, ...others] = items as Fields[];
  expect(others).toEqual([]);
  return event ?? {};
}

/** The id of the task that the client remembers for a later session. */
function taskOf(user: string): string {
  const names = readdirSync(join(user, '.claude'), { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => /\.jsonl?$/.test(name));
  const texts = files.map((name) => readFileSync(join(user, '.claude', name), 'utf8'));
  return /\bcall_[\w-]{100,}/.exec(texts.join('\n'))?.[0] ?? '';
}

const newUser = (name: string): string => claudeHome(join(folder.path, name));

describe.runIf(CLAUDE_CODE !== '')('an idle Claude Code', () => {
  beforeAll(async () => {
    ({ base_url: base } = await svcUp(home));
    const args = [resolve('dist/svc.cjs'), 'mcp'];
    const server = { command: process.execPath, args, env: { SVC_HOME: home } };
    writeFileSync(servers, JSON.stringify({ mcpServers: { svc: server } }));
  });
  afterEach(async () => {
    for (const one of sessions.splice(0)) await one.leave();
  });
  afterAll(async () => {
    await svc(home, ['down']);
    folder.remove();
  });

  it('goes on by itself when the event of its task has come', async () => {
    const url = await addSource('shop');
    const claude = await idle(newUser('waits'), 'inbox_wait', { source: 'shop' });
    await deliver(url, 'order 7');
    await claude.shows('I went on.');
    expect(claude.model.told).toHaveLength(3);
    expect(claude.model.told[2]).toContain('order 7');
  });

  it('goes on by itself when a person has decided, and the model reads the comment', async () => {
    const links = linksSoFar();
    const claude = await idle(newUser('asks'), 'ask_approval', ASK);
    const typed = { comment: 'after lunch' };
    await visit(await pageAfter(links), { button: 'Approve', typed });
    await claude.shows('I went on.');
    expect(claude.model.told).toHaveLength(3);
    expect(claude.model.told[2]).toContain('was approved: do it now.');
    expect(claude.model.told[2]).toContain('after lunch');
  });

  it('goes on with what a person decided while nobody was there, once it is resumed', async () => {
    const user = newUser('asked');
    const links = linksSoFar();
    await (await idle(user, 'ask_approval', ASK)).leave();
    await visit(await pageAfter(links), { button: 'Deny' });
    const { model } = await resumed(user);
    await expect.poll(() => model.told, PATIENCE).toHaveLength(1);
    expect(model.told[0]).toContain("was denied: don't do it.");
  });

  it('claims the event that came while nobody was there only once it is resumed, and once', async () => {
    const user = newUser('left');
    const url = await addSource('later');
    await (await idle(user, 'inbox_wait', { source: 'later', claim: true })).leave();
    await deliver(url, 'order 8');
    expect(await eventOf('later')).toMatchObject({ status: 'pending' });
    const { model } = await resumed(user);
    await expect.poll(() => model.told, PATIENCE).toHaveLength(1);
    expect(model.told[0]).toContain('order 8');
    const { id, status } = await eventOf('later');
    expect(status).toBe('claimed');
    expect(model.told[0]).toContain(String(id));
    // Whoever reads the task again gets the same bytes, and claims nothing.
    const bridges = [new McpProcess(home), new McpProcess(home)];
    const [one, other] = await Promise.all(
      bridges.map((bridge) => settled(taskOf(user), () => bridge)),
    );
    for (const bridge of bridges) bridge.kill();
    expect(other).toBe(one);
    const lease = /lse_\w+/.exec(one ?? '')?.[0] ?? 'no lease';
    expect(model.told[0]).toContain(lease);
    const { items } = await jsonOf('ledger', 'query', '--op', 'inbox_next', '--limit', '100');
    expect(items).toHaveLength(1);
  });
});
