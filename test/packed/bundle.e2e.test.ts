import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getMcpConfigForManifest, unpackExtension } from '@anthropic-ai/mcpb';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installPackage } from './installed.ts';
import { Machine } from './machine.ts';

const installed = await installPackage();

type Manifest = Parameters<typeof getMcpConfigForManifest>[0]['manifest'];

describe.runIf(installed)('the bundle for Claude Desktop', () => {
  let machine: Machine;
  let folder: string;
  let manifest: Manifest;

  beforeAll(async () => {
    machine = new Machine(installed);
    const file = join(machine.home, 'svc.mcpb');
    const args = ['bundle.mjs', '--here', '--out', file, installed?.tarball ?? ''];
    execFileSync(process.execPath, args, { stdio: 'ignore' });
    folder = machine.folder('extension');
    await unpackExtension({ mcpbPath: file, outputDir: folder, silent: true });
    manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  }, 300_000);
  afterAll(() => machine.remove());

  /** Starts the server as Claude Desktop does, with what the user entered. */
  async function connected(userConfig: Record<string, string>): Promise<Client> {
    const config = await getMcpConfigForManifest({
      manifest,
      extensionPath: folder,
      systemDirs: { HOME: machine.home },
      userConfig,
      pathSeparator: '/',
    });
    if (!config) throw new Error('The manifest starts nothing.');
    const { command, args = [], env } = config;
    const client = new Client({ name: 'claude-ai', version: '0.1.0' });
    const transport = new StdioClientTransport({ command, args, env: { ...machine.env, ...env } });
    await client.connect(transport);
    return client;
  }

  it('runs without anything that is installed, with a key of its own', async () => {
    const client = await connected({});
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('ask_approval');
    const said = await client.callTool({ name: 'kv_set', arguments: { key: 'seen', value: 7 } });
    expect(said.structuredContent).toMatchObject({ key: 'seen', version: 1 });
    await client.close();
    const { items } = await machine.json<{ items: object[] }>('key', 'list');
    expect(items).toContainEqual(
      expect.objectContaining({
        name: expect.stringMatching(/^mcp: claude-desktop on /),
        scopes: ['inbox:read', 'inbox:write', 'approvals', 'disk', 'send'],
      }),
    );
  });

  it('works with the gateway and the key that the user enters', async () => {
    const { base_url: gateway } = await machine.json<{ base_url: string }>('status');
    const { api_key: key } = await machine.json<{ api_key: string }>(
      'key',
      'create',
      '--name',
      'desktop',
      '--scopes',
      'disk:read',
    );
    const client = await connected({ gateway, api_key: key });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('kv_get');
    expect(tools.map(({ name }) => name)).not.toContain('kv_set');
    await client.close();
  });

  it('lists the tools that a client finds, and no secret', async () => {
    const client = await connected({});
    const { tools } = await client.listTools();
    const listed = (manifest.tools ?? []).map(({ name }) => name);
    expect(tools.map(({ name }) => name).filter((name) => !listed.includes(name))).toEqual([]);
    await client.close();
    expect(manifest.user_config?.['api_key']).toMatchObject({ sensitive: true });
  });
});
