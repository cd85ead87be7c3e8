import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { optionsOf } from '../../cli/input/flags.ts';
import { allCommands } from '../../cli/tree.ts';

// What the registry of MCP servers says of this package: by the schema that the file names, and by what the package does.

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';

const input = {
  description: z.string().optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
  format: z.enum(['string', 'number', 'boolean', 'filepath']).optional(),
  value: z.string().optional(),
  default: z.string().optional(),
  placeholder: z.string().optional(),
};
const named = z.strictObject({ ...input, type: z.literal('named'), name: z.string() });
const positional = z.strictObject({ ...input, type: z.literal('positional'), value: z.string() });
const variable = z.strictObject({ ...input, name: z.string() });

const serverJson = z.strictObject({
  $schema: z.literal(SCHEMA),
  name: z.string().regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  packages: z.tuple([
    z.strictObject({
      registryType: z.literal('npm'),
      registryBaseUrl: z.literal('https://registry.npmjs.org'),
      identifier: z.string(),
      version: z.string(),
      runtimeHint: z.literal('npx'),
      transport: z.strictObject({ type: z.literal('stdio') }),
      packageArguments: z.array(z.discriminatedUnion('type', [named, positional])),
      environmentVariables: z.array(variable),
    }),
  ]),
  remotes: z.tuple([
    z.strictObject({
      type: z.literal('streamable-http'),
      url: z.string().regex(/^https?:\/\/\S+$/),
      variables: z.record(z.string(), z.strictObject(input)),
      headers: z.array(variable),
    }),
  ]),
});

const server = serverJson.parse(JSON.parse(readFileSync('server.json', 'utf8')));
const [npm] = server.packages;
const [remote] = server.remotes;
const packed = z
  .object({
    name: z.string(),
    version: z.string(),
    mcpName: z.string(),
    bin: z.record(z.string(), z.string()),
  })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')));

describe('server.json', () => {
  it('names this package, in this version, by the name that the package has there', () => {
    expect(server.name).toBe(packed.mcpName);
    expect([npm.identifier, npm.version, server.version]).toEqual([
      packed.name,
      packed.version,
      packed.version,
    ]);
  });

  it('starts the command that serves MCP, which npx finds as the only one', () => {
    expect(Object.keys(packed.bin)).toEqual(['svc']);
    const words = npm.packageArguments.flatMap((one) =>
      one.type === 'positional' ? [one.value] : [],
    );
    expect(words).toEqual(['mcp']);
  });

  it('gives it arguments that the command takes, each with a value', () => {
    const command = allCommands().find(({ words }) => words.join(' ') === 'mcp');
    const flags = (command ? optionsOf(command) : [])
      .filter(({ value }) => value !== undefined)
      .map(({ flag }) => `--${flag}`);
    const given = npm.packageArguments.flatMap((one) => (one.type === 'named' ? [one.name] : []));
    expect(given.length).toBeGreaterThan(0);
    expect(given.filter((name) => !flags.includes(name))).toEqual([]);
  });

  it('names only settings that the docs know, and says which are secret', () => {
    const page = readFileSync('docs/files-and-settings.md', 'utf8');
    const names = npm.environmentVariables.map(({ name }) => name);
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
    const secret = npm.environmentVariables.filter(({ isSecret }) => isSecret);
    expect(secret.map(({ name }) => name)).toEqual(['SVC_API_KEY']);
  });

  it('fills in every part of the address of a gateway', () => {
    const parts = [...remote.url.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(parts).toEqual(Object.keys(remote.variables));
    expect(remote.url.replace('{gateway}', 'svc.example.com')).toBe('https://svc.example.com/mcp');
    expect(remote.headers.map(({ name, isSecret }) => [name, isSecret])).toEqual([
      ['Authorization', true],
    ]);
  });
});
