import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Harness } from '../../surface/harness.ts';
import { claudeCode } from '../hooks/payloads.ts';

let daemon: Harness;
beforeAll(async () => {
  daemon = await Harness.local('own-key-test');
});
afterAll(() => daemon.stop());

interface Key {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly scopes: readonly string[];
}

async function keysOf(lead: string): Promise<Key[]> {
  const { out } = await daemon.svc('key', 'list', '--json');
  const { items } = JSON.parse(out) as { items: Key[] };
  return items.filter(({ name }) => name.startsWith(lead));
}

/** The tools that a client gets. */
async function toolsOf(flags: readonly string[]): Promise<string[]> {
  const client = new Client({ name: 'own-key-test', version: '1.0.0' });
  const args = [daemon.bundle, 'mcp', ...flags];
  const transport = new StdioClientTransport({ command: process.execPath, args, env: daemon.env });
  await client.connect(transport);
  const { tools } = await client.listTools();
  await client.close();
  return tools.map(({ name }) => name);
}

it('a client that no command set up works with a key of its own, which its first start makes', async () => {
  const tools = await toolsOf(['--client', 'claude-desktop']);
  expect(tools).toContain('ask_approval');
  expect(tools).not.toContain('key_create');
  expect(await toolsOf(['--client', 'claude-desktop'])).toEqual(tools);
  expect(await keysOf('mcp: claude-desktop')).toMatchObject([
    { scopes: ['inbox:read', 'inbox:write', 'approvals', 'disk', 'send'] },
  ]);
});

it('a client whose key was revoked gets no other by itself', async () => {
  await toolsOf(['--client', 'stopped']);
  const [key] = await keysOf('mcp: stopped');
  await daemon.svc('key', 'revoke', key?.id ?? '');
  await expect(toolsOf(['--client', 'stopped'])).rejects.toThrow(/revoked/);
  expect((await keysOf('mcp: stopped')).filter(({ status }) => status === 'active')).toEqual([]);
});

it('a client that only reads gets a key that only reads', async () => {
  const tools = await toolsOf(['--client', 'reader', '--read-only']);
  expect(tools).toContain('inbox_list');
  expect(tools).not.toContain('inbox_ack');
  expect(await keysOf('mcp: reader')).toMatchObject([
    { scopes: ['ledger:read', 'inbox:read', 'disk:read'] },
  ]);
});

it('a name that could be another profile is refused', async () => {
  const { code, err } = await daemon.svc('mcp', '--client', '../x');
  expect(code).toBe(2);
  expect(err).toContain('--client takes');
});

it('a hook that no command set up asks with a key of its own, and with no other right', async () => {
  // svc's own tools come under another name out of a plugin, and need nobody beside the policy.
  const own = { ...claudeCode('git status'), tool_name: 'mcp__plugin_svc_svc__ask_approval' };
  expect((await hook(own).ended).out).toBe('');
  expect(await keysOf('hook: claude-code')).toEqual([]);
  const { child, ended } = hook(claudeCode('git status'));
  await expect.poll(requests, { timeout: 60_000 }).toContain('git status');
  child.kill('SIGTERM');
  await ended;
  expect(await keysOf('hook: claude-code')).toMatchObject([{ scopes: ['approvals'] }]);
});

async function requests(): Promise<string> {
  return (await daemon.svc('request', 'list')).out;
}

/** The hook as a plugin starts it, with the payload on its standard input. */
function hook(payload: object) {
  const args = [daemon.bundle, 'hook', 'run', 'claude-code', '--own-key'];
  const child = spawn(process.execPath, args, { env: daemon.env });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')));
  child.stdin.end(JSON.stringify(payload));
  return { child, ended: once(child, 'close').then(() => ({ out })) };
}
