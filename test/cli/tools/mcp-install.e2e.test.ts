import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { svc, svcUp } from '../../helpers/daemon.ts';
import { fieldsOf, parsedLine } from './fakes.ts';

const USUAL = ['inbox:read', 'inbox:write', 'approvals', 'disk', 'send'];
let home: string;
let data: string;
let baseUrl: string;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'svc-mcp-'));
  data = join(home, '.svc');
  baseUrl = (await svcUp(data)).base_url;
});
afterAll(async () => {
  await svc(data, ['down']);
  rmSync(home, { recursive: true, force: true });
});

function run(...args: string[]): Promise<string> {
  return svc(data, args, { HOME: home, XDG_CONFIG_HOME: '' });
}

async function json(...args: string[]) {
  return parsedLine(await run(...args));
}

interface Key {
  readonly name: string;
  readonly scopes: string[];
  readonly revoked_at: string | null;
}

async function activeKeys(client: string): Promise<string[][]> {
  const { items } = (await json('key', 'list', '--limit', '100')) as unknown as { items: Key[] };
  const own = items.filter(({ name }) => name.startsWith(`mcp: ${client} on `));
  return own.filter(({ revoked_at }) => revoked_at === null).map(({ scopes }) => scopes);
}

function read(path: string): string {
  return readFileSync(join(home, path), 'utf8');
}

function profiles(): Record<string, unknown> {
  return fieldsOf(parsedLine(read('.svc/credentials.json'))['profiles']);
}

describe('svc mcp install', () => {
  it('gives the client a key of its own, which is not in its file', async () => {
    writeFileSync(join(home, '.claude.json'), '{"numStartups": 3}', { mode: 0o600 });
    const answer = await json('mcp', 'install', 'claude-code', '--scope', 'user');
    expect(answer).toMatchObject({ changed: true, key_created: true, scopes: USUAL });
    expect(await activeKeys('claude-code')).toEqual([USUAL]);
    expect(profiles()).toHaveProperty('mcp-claude-code');
    expect(read('.claude.json')).not.toContain('svc_live_');
    expect(parsedLine(read('.claude.json'))).toMatchObject({
      numStartups: 3,
      mcpServers: { svc: { type: 'stdio', env: { SVC_HOME: data } } },
    });
    expect(read('.claude/skills/svc/SKILL.md')).toBe(readFileSync('SKILL.md', 'utf8'));
  });

  it('changes nothing the second time, and uses the first key again', async () => {
    const before = read('.claude.json');
    const again = await json('mcp', 'install', 'claude-code', '--scope', 'user');
    expect(again).toMatchObject({ changed: false, key_created: false, scopes: USUAL });
    expect(read('.claude.json')).toBe(before);
    expect(await activeKeys('claude-code')).toHaveLength(1);
  });

  it('writes an entry whose server works with that key only', async () => {
    type Entry = { command: string; args: string[]; env: Record<string, string> };
    const { svc: entry } = fieldsOf(parsedLine(read('.claude.json'))['mcpServers']);
    const client = new Client({ name: 'test', version: '1' });
    // A client that a desktop starts finds neither Node nor svc on its PATH.
    const { env, ...rest } = entry as Entry;
    await client.connect(new StdioClientTransport({ ...rest, env: { ...env, PATH: '/' } }));
    try {
      const answer = await client.callTool({ name: 'whoami', arguments: {} });
      expect(fieldsOf(answer.structuredContent)['scopes']).toEqual(USUAL);
    } finally {
      await client.close();
    }
  });

  it('replaces the key if other scopes are asked for, and keeps them later', async () => {
    await run('mcp', 'install', 'cursor');
    const narrow = await json('mcp', 'install', 'cursor', '--scopes', 'inbox:read');
    expect(narrow).toMatchObject({ changed: false, key_created: true, scopes: ['inbox:read'] });
    expect(await activeKeys('cursor')).toEqual([['inbox:read']]);
    const again = await json('mcp', 'install', 'cursor');
    expect(again).toMatchObject({ key_created: false, scopes: ['inbox:read'] });
  });

  it('limits the key to prefixes of the disk, and keeps the limit with other scopes', async () => {
    const install = ['mcp', 'install', 'cursor'];
    const limited = await json(...install, '--scopes', 'disk', '--disk-prefix', 'team-a/');
    const disk_prefixes = ['team-a/'];
    expect(limited).toMatchObject({ key_created: true, scopes: ['disk'], disk_prefixes });
    const again = await json(...install);
    expect(again).toMatchObject({ key_created: false, scopes: ['disk'], disk_prefixes });
    const reading = await json(...install, '--scopes', 'disk:read');
    expect(reading).toMatchObject({ key_created: true, scopes: ['disk:read'], disk_prefixes });
    const wider = await json(...install, '--disk-prefix', 'team-a/,team-b/');
    expect(wider).toMatchObject({
      key_created: true,
      scopes: ['disk:read'],
      disk_prefixes: ['team-a/', 'team-b/'],
    });
    expect(await activeKeys('cursor')).toEqual([['disk:read']]);
  });

  it('writes the address and the key into a private file with --http', async () => {
    writeFileSync(join(home, 'settings.json'), '');
    const answer = await run('mcp', 'install', 'gemini', '--http', '--no-skill');
    expect(answer).not.toMatch(/svc_live_\w/);
    const { mcpServers } = parsedLine(read('.gemini/settings.json'));
    const { httpUrl, headers } = fieldsOf(fieldsOf(mcpServers)['svc']);
    expect(httpUrl).toBe(`${baseUrl}/mcp`);
    expect(statSync(join(home, '.gemini/settings.json')).mode & 0o777).toBe(0o600);
    expect(existsSync(join(home, '.gemini/skills'))).toBe(false);
    const answered = await fetch(`${baseUrl}/v1/whoami`, {
      headers: fieldsOf(headers) as Record<string, string>,
    });
    expect(answered.status).toBe(200);
  });

  it('makes no key for a file that it cannot change', async () => {
    execFileSync('mkdir', ['-p', join(home, '.codeium/windsurf')]);
    writeFileSync(join(home, '.codeium/windsurf/mcp_config.json'), '{"mcpServers": []}');
    await expect(run('mcp', 'install', 'windsurf')).rejects.toThrow('CONFIG_REFUSED');
    expect(await activeKeys('windsurf')).toEqual([]);
    expect(profiles()).not.toHaveProperty('mcp-windsurf');
  });

  it('does not show the profiles of clients among the projects', async () => {
    const { items } = await json('project', 'list');
    expect(items).toHaveLength(1);
  });
});

describe('svc mcp uninstall', () => {
  it('takes the entry and the skill out and revokes the key', async () => {
    const answer = await json('mcp', 'uninstall', 'claude-code', '--scope', 'user');
    expect(answer).toMatchObject({ removed: true, key: 'revoked', skill_removed: true });
    expect(parsedLine(read('.claude.json'))).toEqual({ numStartups: 3, mcpServers: {} });
    expect(await activeKeys('claude-code')).toEqual([]);
    expect(profiles()).not.toHaveProperty('mcp-claude-code');
    expect(existsSync(join(home, '.claude/skills/svc'))).toBe(false);
    await expect(run('mcp', 'uninstall', 'claude-code', '--scope', 'user')).rejects.toThrow(/./);
  });

  it.each([
    ['cursor', '.cursor'],
    ['codex', '.codex'],
  ])('leaves no file with nothing in it: %s', async (client, folder) => {
    const env = { HOME: mkdtempSync(join(home, 'new-')), XDG_CONFIG_HOME: '' };
    const named = ['--scope', 'user', '--name', `svc-${client}`];
    await svc(data, ['mcp', 'install', client, ...named], env);
    expect(existsSync(join(env.HOME, folder))).toBe(true);
    await svc(data, ['mcp', 'uninstall', client, ...named], env);
    expect(existsSync(join(env.HOME, folder))).toBe(false);
  });

  it("leaves the project's folder, and the user's, where nothing else is in it", async () => {
    const project = mkdtempSync(join(home, 'project-'));
    const env = { HOME: mkdtempSync(join(home, 'user-')), XDG_CONFIG_HOME: '' };
    for (const [scope, folder] of Object.entries({ project, user: env.HOME })) {
      await svc(data, ['mcp', 'install', 'claude-code', '--scope', scope], env, project);
      // Whoever took the skill out by hand may have left nothing but the entry.
      rmSync(join(folder, '.claude'), { recursive: true });
      await svc(data, ['mcp', 'uninstall', 'claude-code', '--scope', scope], env, project);
    }
    expect([existsSync(project), existsSync(env.HOME)]).toEqual([true, true]);
  });
});
