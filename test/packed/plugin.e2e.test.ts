import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claudeCode, codex } from '../cli/hooks/payloads.ts';
import { installPackage } from './installed.ts';
import { Machine } from './machine.ts';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly mcpServers: string;
  readonly hooks: string;
}

interface Servers {
  readonly mcpServers: { readonly svc: { readonly command: string; readonly args: string[] } };
}

interface Hooks {
  readonly hooks: {
    readonly PermissionRequest: readonly [{ readonly hooks: readonly [{ command: string }] }];
  };
}

const CLIENTS = [
  { client: 'claude-code', folder: '.claude-plugin', payload: claudeCode('git status') },
  { client: 'codex', folder: '.codex-plugin', payload: codex('git status') },
] as const;

const installed = await installPackage();
const PACKAGE = join(installed?.folder ?? '', 'node_modules', 'svc-agents');
const PLUGIN = join(PACKAGE, 'dist', 'plugin', 'svc');

function json(...path: readonly string[]): unknown {
  return JSON.parse(readFileSync(join(...path), 'utf8'));
}

describe.runIf(installed)('the plugin in the package', () => {
  let machine: Machine;

  beforeAll(async () => {
    machine = new Machine(installed);
    await machine.svc('up', '--port', '0');
  });
  afterAll(() => machine.remove());

  it('is found where each client looks in a marketplace', () => {
    const claude = json(PLUGIN, '..', '.claude-plugin/marketplace.json') as { plugins: object[] };
    expect(claude.plugins).toMatchObject([{ name: 'svc', source: './svc' }]);
    const other = json(PLUGIN, '..', '.agents/plugins/marketplace.json') as { plugins: object[] };
    expect(other.plugins).toMatchObject([{ name: 'svc', source: { path: './svc' } }]);
  });

  it('has the skill of the package', () => {
    const skill = readFileSync(join(PLUGIN, 'skills/svc/SKILL.md'), 'utf8');
    expect(skill).toBe(readFileSync(join(PACKAGE, 'SKILL.md'), 'utf8'));
  });

  it.each(CLIENTS)('is of this version for $client', ({ folder }) => {
    const { name, version } = json(PLUGIN, folder, 'plugin.json') as Manifest;
    expect([name, version]).toEqual(['svc', (json(PACKAGE, 'package.json') as Manifest).version]);
  });

  it.each(CLIENTS)('serves the tools to $client, with a key of its own', async (entry) => {
    const { mcpServers } = json(PLUGIN, entry.folder, 'plugin.json') as Manifest;
    const { command, args } = (json(PLUGIN, mcpServers) as Servers).mcpServers.svc;
    const client = new Client({ name: entry.client, version: '1.0.0' });
    await client.connect(new StdioClientTransport({ command, args, env: { ...machine.env } }));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('ask_approval');
    await client.close();
    expect(await keysNamed(`mcp: ${entry.client} on`)).toMatchObject([
      { scopes: ['inbox:read', 'inbox:write', 'approvals', 'disk', 'send'] },
    ]);
  });

  it.each(CLIENTS)(
    'asks people for $client, with a key that may do nothing else',
    async (entry) => {
      const { hooks } = json(PLUGIN, entry.folder, 'plugin.json') as Manifest;
      const [{ hooks: list }] = (json(PLUGIN, hooks) as Hooks).hooks.PermissionRequest;
      const { child } = machine.startProgram('/bin/sh', ['-c', list[0].command]);
      child.stdin.end(JSON.stringify(entry.payload));
      const asked = async (): Promise<unknown> =>
        (await machine.json<{ items: object[] }>('request', 'list', '--status', 'pending')).items;
      await expect
        .poll(asked, { timeout: 60_000 })
        .toContainEqual(
          expect.objectContaining({ action: 'tool.Bash', summary: 'Run `git status` in shop' }),
        );
      child.kill('SIGTERM');
      await expect.poll(asked, { timeout: 60_000 }).toEqual([]);
      expect(await keysNamed(`hook: ${entry.client} on`)).toMatchObject([
        { scopes: ['approvals'] },
      ]);
    },
  );

  async function keysNamed(beginning: string): Promise<object[]> {
    const { items } = await machine.json<{ items: { name: string }[] }>('key', 'list');
    return items.filter(({ name }) => name.startsWith(beginning));
  }
});
