import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../../../cli/commands/mcp/install.ts';
import { withJsonEntry, withTomlEntry } from '../../../cli/mcp/client-entry.ts';
import { scanToml } from '../../../cli/mcp/toml-scan.ts';
import { fakeContext, fieldsOf, parsedLine } from './fakes.ts';

const ENTRY = { command: 'svc', args: ['mcp'], env: {} };
const TABLE = '[mcp_servers.svc]\ncommand = "svc"\nargs = ["mcp"]\n';

function newHome(): string {
  return mkdtempSync(join(tmpdir(), 'svc-install-'));
}

async function install(
  home: string,
  client: string,
  options: Record<string, string | boolean> = {},
  env: NodeJS.ProcessEnv = {},
) {
  const { context, printed } = fakeContext({
    args: { client },
    options: { scope: 'user', ...options },
    env: { HOME: home, PATH: join(home, 'bin'), ...env },
  });
  await run(context);
  return { answer: fieldsOf(printed.answers[0]), printed };
}

describe('svc mcp install', () => {
  it.each([
    ['claude-code', '.claude.json'],
    ['codex', '.codex/config.toml'],
    ['cursor', '.cursor/mcp.json'],
  ])('sets %s up in ~/%s, once', async (client, path) => {
    const home = newHome();
    const first = await install(home, client);
    expect(first.answer).toMatchObject({ file: join(home, path), changed: true });
    const text = readFileSync(join(home, path), 'utf8');
    expect(text).toContain(process.execPath);
    expect((await install(home, client)).answer['changed']).toBe(false);
    expect(readFileSync(join(home, path), 'utf8')).toBe(text);
    expect(readdirSync(home).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('names `svc` only where PATH leads to this program', async () => {
    const home = realpathSync(newHome());
    const script = join(home, 'svc.cjs');
    mkdirSync(join(home, 'bin'));
    writeFileSync(script, '', { mode: 0o755 });
    symlinkSync(script, join(home, 'bin', 'svc'));
    const other = newHome();
    mkdirSync(join(other, 'bin'));
    writeFileSync(join(other, 'bin', 'svc'), '#!/bin/sh\n', { mode: 0o755 });
    const started = process.argv[1] ?? '';
    process.argv[1] = script;
    try {
      const ours = await install(home, 'cursor');
      expect(ours.answer).toMatchObject({ command: 'svc', args: ['mcp'] });
      const theirs = await install(other, 'cursor');
      expect(theirs.answer).toMatchObject({ command: process.execPath, args: [script, 'mcp'] });
    } finally {
      process.argv[1] = started;
    }
  });

  it('passes SVC_HOME on, and follows the folders the clients are told', async () => {
    const home = newHome();
    const env = {
      SVC_HOME: '/srv/svc',
      CODEX_HOME: join(home, 'c'),
      CLAUDE_CONFIG_DIR: join(home, 'd'),
    };
    const { answer } = await install(home, 'codex', {}, env);
    expect(answer).toMatchObject({
      env: { SVC_HOME: '/srv/svc' },
      file: join(home, 'c', 'config.toml'),
    });
    expect(readFileSync(join(home, 'c', 'config.toml'), 'utf8')).toContain(
      'env = { SVC_HOME = "/srv/svc" }',
    );
    expect((await install(home, 'claude-code', {}, env)).answer['file']).toBe(
      join(home, 'd', '.claude.json'),
    );
  });

  it('prints without writing', async () => {
    const home = newHome();
    const { context, printed } = fakeContext({
      args: { client: 'codex' },
      options: { print: true, scope: 'user' },
      env: { HOME: home },
      json: false,
    });
    await run(context);
    expect(printed.lines[0]).toMatch(/^\[mcp_servers\.svc\]\n/);
    expect(readdirSync(home)).toEqual([]);
  });

  it('keeps mode and links, and refuses broken files without touching them', async () => {
    const home = newHome();
    writeFileSync(join(home, 'real.json'), '{}', { mode: 0o640 });
    symlinkSync(join(home, 'real.json'), join(home, '.claude.json'));
    await install(home, 'claude-code');
    expect(lstatSync(join(home, '.claude.json')).isSymbolicLink()).toBe(true);
    expect(statSync(join(home, 'real.json')).mode & 0o777).toBe(0o640);
    writeFileSync(join(home, 'real.json'), '{ "a": 1, }');
    await expect(install(home, 'claude-code')).rejects.toMatchObject({ code: 'CONFIG_REFUSED' });
    expect(readFileSync(join(home, 'real.json'), 'utf8')).toBe('{ "a": 1, }');
  });

  it('knows only its clients and plain names', async () => {
    await expect(install(newHome(), 'emacs')).rejects.toMatchObject({ exit: 2 });
    await expect(install(newHome(), 'toString')).rejects.toMatchObject({ exit: 2 });
    await expect(install(newHome(), 'codex', { name: 'a.b' })).rejects.toMatchObject({ exit: 2 });
  });
});

describe('a JSON configuration', () => {
  it('keeps everything else, its order and its indentation', () => {
    const text = '{\n\t"z": 1,\n\t"mcpServers": {\n\t\t"x": {"url": "u"}\n\t},\n\t"a": [1]\n}\n';
    const changed = withJsonEntry(text, 'svc', ENTRY);
    expect(Object.keys(parsedLine(changed))).toEqual(['z', 'mcpServers', 'a']);
    expect(changed).toMatch(/^{\n\t"z"/);
    expect(JSON.parse(changed)).toMatchObject({
      mcpServers: { x: { url: 'u' }, svc: { type: 'stdio', command: 'svc', args: ['mcp'] } },
    });
  });

  it('replaces how a server is reached and keeps what else is set', () => {
    const before = { mcpServers: { svc: { url: 'u', headers: {}, command: 'old', timeout: 5 } } };
    const changed = withJsonEntry(JSON.stringify(before), 'svc', ENTRY);
    expect(JSON.parse(changed)).toEqual({
      mcpServers: { svc: { type: 'stdio', command: 'svc', args: ['mcp'], timeout: 5 } },
    });
  });

  it.each(['[]', '{"mcpServers": []}', '// x\n{}', '7'])('refuses %s', (text) => {
    expect(() => withJsonEntry(text, 'svc', ENTRY)).toThrow(/./);
  });
});

const OTHER = [
  '# my settings',
  'model = "o9" # the best',
  'notice = """',
  '[mcp_servers.svc]',
  'not = "a table"""""',
  "path = 'C:\\[x]'",
  'list = [',
  '  ["a"], # ]',
  '  ["[b]"]',
  ']',
  'when = 1979-05-27 07:32:00',
  '',
  '[mcp_servers."other.one"]',
  'command = "x"',
  'env = { A = "1", B = "}" }',
  '',
  '[[things]]',
  'a.b = 1',
  '',
].join('\n');

describe('a TOML configuration', () => {
  it('gets the table at its end and keeps every byte before', () => {
    expect(withTomlEntry('', 'svc', ENTRY)).toBe(TABLE);
    expect(withTomlEntry(OTHER, 'svc', ENTRY)).toBe(`${OTHER}\n${TABLE}`);
    expect(withTomlEntry('a = 1', 'svc', ENTRY)).toBe(`a = 1\n\n${TABLE}`);
    expect(withTomlEntry('a = 1\r\n', 'svc', ENTRY)).toBe(
      `a = 1\r\n\r\n${TABLE.replaceAll('\n', '\r\n')}`,
    );
  });

  it('changes nothing the second time', () => {
    const once = withTomlEntry(OTHER, 'svc', ENTRY);
    expect(withTomlEntry(once, 'svc', ENTRY)).toBe(once);
  });

  it('replaces its table only, with its environment, and keeps other settings of it', () => {
    const old = [
      '[mcp_servers.svc.env]',
      'A = "1"',
      '',
      '[ mcp_servers . "svc" ] # mine',
      'url = "http://x"',
      'startup_timeout_sec = 20 # slow',
      'args = [',
      '  "x",',
      ']',
      '',
      '# about the next one',
      '[mcp_servers.svc.tools.ask_approval]',
      'approval_mode = "prompt"',
      '',
    ].join('\n');
    expect(withTomlEntry(OTHER + old, 'svc', ENTRY)).toBe(
      `${OTHER}\n${TABLE}startup_timeout_sec = 20 # slow\n\n# about the next one\n[mcp_servers.svc.tools.ask_approval]\napproval_mode = "prompt"\n`,
    );
  });

  it.each([
    'mcp_servers = {}',
    'mcp_servers.svc.command = "x"',
    '[mcp_servers]\nsvc = { command = "x" }',
    '[[mcp_servers]]\na = 1',
    'a = "open',
    'a = [1',
    'a = ]',
    'a = 1 b = 2',
    '[a',
    '[a] b = 1',
    'just text',
  ])('refuses %j', (text) => {
    expect(() => withTomlEntry(text, 'svc', ENTRY)).toThrow(/./);
  });

  it('is scanned statement by statement', () => {
    const kinds = scanToml(OTHER).map(({ kind, path }) => `${kind} ${path.join('/')}`);
    expect(kinds).toEqual([
      'value model',
      'value notice',
      'value path',
      'value list',
      'value when',
      'table mcp_servers/other.one',
      'value mcp_servers/other.one/command',
      'value mcp_servers/other.one/env',
      'tables things',
      'value things/a/b',
    ]);
  });

  it('escapes what it writes', () => {
    const entry = { command: 'C:\\a "b"\u007f', args: [], env: { SVC_HOME: '/x y' } };
    expect(withTomlEntry('', 'svc', entry)).toBe(
      '[mcp_servers.svc]\ncommand = "C:\\\\a \\"b\\"\\u007F"\nargs = []\nenv = { SVC_HOME = "/x y" }\n',
    );
  });
});
