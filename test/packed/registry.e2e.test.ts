import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installPackage } from './installed.ts';
import { Machine } from './machine.ts';

interface Argument {
  readonly name?: string;
  readonly value?: string;
  readonly default?: string;
}

interface ServerJson {
  readonly name: string;
  readonly packages: readonly [{ readonly packageArguments: readonly Argument[] }];
}

const installed = await installPackage();
const server = JSON.parse(readFileSync('server.json', 'utf8')) as ServerJson;

/** The command line that a client makes of the entry, where the user sets nothing. */
const args = server.packages[0].packageArguments.flatMap((one) => {
  const value = one.value ?? one.default;
  if (value === undefined) return [];
  return one.name === undefined ? [value] : [one.name, value];
});

describe.runIf(installed)('a client that starts what the registry says', () => {
  let machine: Machine;

  beforeAll(() => {
    machine = new Machine(installed);
  });
  afterAll(() => machine.remove());

  it('has the tools on a machine on which nothing ran before, with a key of its own', async () => {
    const { command, env } = machine;
    const client = new Client({ name: 'registry-client', version: '1.0.0' });
    await client.connect(new StdioClientTransport({ command, args, env: { ...env } }));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['inbox_wait', 'ask_approval', 'kv_set', 'email_send']),
    );
    expect(tools.map(({ name }) => name)).not.toContain('key_create');
    await client.close();
    const { items } = await machine.json<{ items: object[] }>('key', 'list');
    expect(items).toContainEqual(
      expect.objectContaining({
        name: expect.stringMatching(/^mcp: mcp on /),
        scopes: ['inbox:read', 'inbox:write', 'approvals', 'disk', 'send'],
      }),
    );
  });

  it('is the package that the registry asks for the name', async () => {
    const path = `${installed?.folder ?? ''}/node_modules/svc-agents/package.json`;
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ mcpName: server.name });
  });
});
