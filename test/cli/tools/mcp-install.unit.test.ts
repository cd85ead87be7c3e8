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
import type { EntryFields } from '../../../cli/mcp/edits.ts';
import { withJsonEntry as jsonEntry, withoutJsonEntry } from '../../../cli/mcp/json-entry.ts';
import { lastingPath, startProblem } from '../../../cli/program-path.ts';
import { replaceFile } from '../../../cli/mcp/replace-file.ts';
import { withoutTomlEntry, withTomlEntry as tomlEntry } from '../../../cli/mcp/toml-entry.ts';
import { scanToml } from '../../../cli/mcp/toml-scan.ts';
import { fakeContext, fieldsOf, parsedLine } from './fakes.ts';

const ENTRY = { command: 'svc', args: ['mcp'] };
const PLACE = { servers: 'mcpServers', name: 'svc' };
const TYPED = { type: 'stdio', ...ENTRY };

function withJsonEntry(text: string, name: string, fields: EntryFields): string {
  return jsonEntry(text, { servers: 'mcpServers', name }, fields);
}

function withTomlEntry(text: string, name: string, fields: EntryFields): string {
  return tomlEntry(text, { servers: 'mcp_servers', name }, fields);
}

const TABLE = '[mcp_servers.svc]\ncommand = "svc"\nargs = ["mcp"]\n';

function newHome(): string {
  return mkdtempSync(join(tmpdir(), 'svc-install-'));
}

async function printed(
  home: string,
  client: string,
  options: Record<string, string | boolean> = {},
  env: NodeJS.ProcessEnv = {},
  json = true,
) {
  const { context, printed: out } = fakeContext({
    args: { client },
    options: { print: true, scope: 'user', ...options },
    env: { HOME: home, PATH: join(home, 'bin'), ...env },
    json,
  });
  await run(context);
  return { answer: fieldsOf(out.answers[0]), lines: out.lines, notes: out.notes };
}

describe('svc mcp install --print', () => {
  it.each([
    ['claude-code', '.claude.json'],
    ['claude-desktop', '.config/Claude/claude_desktop_config.json'],
    ['codex', '.codex/config.toml'],
    ['cursor', '.cursor/mcp.json'],
    ['gemini', '.gemini/settings.json'],
    ['vscode', '.config/Code/User/mcp.json'],
    ['windsurf', '.codeium/windsurf/mcp_config.json'],
  ])('names the file of %s: ~/%s', async (client, path) => {
    const home = newHome();
    const { answer } = await printed(home, client);
    expect(answer).toMatchObject({ file: join(home, path), profile: `mcp-${client}` });
    expect(readdirSync(home)).toEqual([]);
  });

  it.each([
    ['claude-code', '.mcp.json'],
    ['codex', '.codex/config.toml'],
    ['cursor', '.cursor/mcp.json'],
    ['gemini', '.gemini/settings.json'],
    ['vscode', '.vscode/mcp.json'],
  ])('names the file of %s for a project: %s', async (client, path) => {
    const { answer } = await printed(newHome(), client, { scope: 'project' });
    expect(answer['file']).toBe(join(process.cwd(), path));
    expect(answer['profile']).toMatch(new RegExp(`^mcp-${client}-[0-9a-f]{6}$`));
  });

  it('refuses what a client cannot have', async () => {
    const desktop = { scope: 'project' };
    await expect(printed(newHome(), 'claude-desktop', desktop)).rejects.toMatchObject({ exit: 2 });
    await expect(printed(newHome(), 'windsurf', desktop)).rejects.toMatchObject({ exit: 2 });
    const http = { http: true };
    await expect(printed(newHome(), 'claude-desktop', http)).rejects.toMatchObject({ exit: 2 });
    const shared = { http: true, scope: 'project' };
    await expect(printed(newHome(), 'claude-code', shared)).rejects.toMatchObject({ exit: 2 });
    const unknown = { scopes: 'disk,root' };
    await expect(printed(newHome(), 'cursor', unknown)).rejects.toMatchObject({ exit: 2 });
    const empty = { 'disk-prefix': ',' };
    await expect(printed(newHome(), 'cursor', empty)).rejects.toMatchObject({ exit: 2 });
  });

  it('gives each name a profile that a profile may have', async () => {
    const long = (await printed(newHome(), 'cursor', { name: 'x'.repeat(64) })).answer['profile'];
    expect(long).toMatch(/^mcp-cursor-x+-[0-9a-f]{6}$/);
    expect(String(long).length).toBeLessThanOrEqual(63);
    const other = (await printed(newHome(), 'cursor', { name: 'x'.repeat(63) })).answer['profile'];
    expect(other).not.toBe(long);
  });

  it('names Node and the program by whole paths, also where `svc` is on PATH', async () => {
    const home = realpathSync(newHome());
    const script = join(home, 'svc.cjs');
    mkdirSync(join(home, 'bin'));
    writeFileSync(script, '', { mode: 0o755 });
    symlinkSync(script, join(home, 'bin', 'svc'));
    const started = process.argv[1] ?? '';
    process.argv[1] = join(home, 'bin', 'svc');
    try {
      const { answer } = await printed(home, 'cursor');
      const args = [script, 'mcp', '--profile', 'mcp-cursor'];
      expect(answer).toMatchObject({ command: process.execPath, args });
    } finally {
      process.argv[1] = started;
    }
  });

  it('learns whether they start without the environment of this terminal', async () => {
    const script = join(newHome(), 'svc.cjs');
    writeFileSync(script, "if (process.env.NEEDED === undefined) throw new Error('lacks NEEDED')");
    const command = [process.execPath, script];
    expect(await startProblem(command, {})).toContain('lacks NEEDED');
    expect(await startProblem(command, { NEEDED: '1' })).toBeNull();
    expect(await startProblem(['svc'], { PATH: '/nonexistent' })).toContain('ENOENT');
  });

  it("names Homebrew's Node by the path that outlasts an update", () => {
    const prefix = realpathSync(newHome());
    const release = join(prefix, 'Cellar', 'node@22', '22.1.0');
    mkdirSync(join(release, 'bin'), { recursive: true });
    mkdirSync(join(prefix, 'opt'));
    const node = join(release, 'bin', 'node');
    writeFileSync(node, '', { mode: 0o755 });
    expect(lastingPath(node)).toBe(node);
    symlinkSync(release, join(prefix, 'opt', 'node@22'));
    expect(lastingPath(node)).toBe(join(prefix, 'opt', 'node@22', 'bin', 'node'));
  });

  it('passes SVC_HOME on, and follows the folders the clients are told', async () => {
    const home = newHome();
    const env = {
      SVC_HOME: '/srv/svc',
      CODEX_HOME: join(home, 'c'),
      CLAUDE_CONFIG_DIR: join(home, 'd'),
      XDG_CONFIG_HOME: join(home, 'e'),
    };
    expect((await printed(home, 'codex', {}, env)).answer).toMatchObject({
      env: { SVC_HOME: '/srv/svc' },
      file: join(home, 'c', 'config.toml'),
    });
    const claude = await printed(home, 'claude-code', {}, env);
    expect(claude.answer['file']).toBe(join(home, 'd', '.claude.json'));
    const code = await printed(home, 'vscode', {}, env);
    expect(code.answer['file']).toBe(join(home, 'e', 'Code', 'User', 'mcp.json'));
  });

  it('shows the entry as the file will have it', async () => {
    const { lines } = await printed(newHome(), 'codex', {}, {}, false);
    expect(lines[0]).toMatch(/^\[mcp_servers\.svc\]\n/);
    const http = await printed(newHome(), 'gemini', { http: true }, {}, false);
    expect(parsedLine(http.lines[0] ?? '')).toEqual({
      mcpServers: {
        svc: {
          httpUrl: 'http://127.0.0.1:4780/mcp',
          headers: { Authorization: 'Bearer svc_live_…' },
        },
      },
    });
  });

  it.each([
    ['codex', 'user', 'for you, in every folder', '--scope project'],
    ['claude-code', 'project', 'for the project in this folder', '--scope user'],
    ['windsurf', 'user', 'for you, in every folder', 'Windsurf has no files for a project.'],
  ])('says for whom the file of %s is (%s), and how to get the other', async (...given) => {
    const [client, scope, whose, other] = given;
    const { notes } = await printed(newHome(), client, { scope }, {}, false);
    expect(notes[0]).toContain(whose);
    expect(notes[1]).toContain(other);
  });

  it('offers only the tools that were asked for', async () => {
    const some = { tools: 'inbox, kv_get', 'read-only': true };
    const { answer } = await printed(newHome(), 'cursor', some);
    const rest = ['mcp', '--profile', 'mcp-cursor', '--tools', 'inbox,kv_get', '--read-only'];
    expect((answer['args'] as string[]).slice(-rest.length)).toEqual(rest);
    const http = await printed(newHome(), 'vscode', { ...some, http: true });
    expect(http.answer['url']).toMatch(/\/mcp\/readonly\?tools=inbox%2Ckv_get$/);
    const wrong = printed(newHome(), 'cursor', { tools: '--x' });
    await expect(wrong).rejects.toMatchObject({ exit: 2 });
  });

  it('knows only its clients and plain names', async () => {
    await expect(printed(newHome(), 'emacs')).rejects.toMatchObject({ exit: 2 });
    await expect(printed(newHome(), 'toString')).rejects.toMatchObject({ exit: 2 });
    await expect(printed(newHome(), 'codex', { name: 'a.b' })).rejects.toMatchObject({ exit: 2 });
  });
});

describe('replacing a file', () => {
  it('keeps its mode and its link, and takes a file with a key from others', async () => {
    const home = newHome();
    const real = join(home, 'real.json');
    writeFileSync(real, '{}', { mode: 0o640 });
    symlinkSync(real, join(home, 'link.json'));
    await replaceFile(join(home, 'link.json'), '{"a":1}', { newMode: 0o600 });
    expect(lstatSync(join(home, 'link.json')).isSymbolicLink()).toBe(true);
    expect(statSync(real).mode & 0o777).toBe(0o640);
    await replaceFile(real, '{"a":2}', { newMode: 0o600, isPrivate: true });
    expect(statSync(real).mode & 0o777).toBe(0o600);
    expect(readFileSync(real, 'utf8')).toBe('{"a":2}');
  });
});

describe('a JSON configuration', () => {
  it('keeps everything else, its order and its indentation', () => {
    const text = '{\n\t"z": 1,\n\t"mcpServers": {\n\t\t"x": {"url": "u"}\n\t},\n\t"a": [1]\n}\n';
    expect(withJsonEntry(text, 'svc', ENTRY)).toBe(
      '{\n\t"z": 1,\n\t"mcpServers": {\n\t\t"x": {"url": "u"},\n\t\t"svc": {\n\t\t\t"command": "svc",\n\t\t\t"args": [\n\t\t\t\t"mcp"\n\t\t\t]\n\t\t}\n\t},\n\t"a": [1]\n}\n',
    );
  });

  it.each([
    ['', ''],
    ['{}', '{}'],
    ['{"a": 1}', '{"a": 1}'],
    ['{"mcpServers": {"x": {}}}', '{"mcpServers": {"x": {}}}'],
    ['{\r\n  "mcpServers": {}\r\n}\r\n', '{\r\n  "mcpServers": {}\r\n}\r\n'],
  ])('of %j stays valid', (text) => {
    const changed = withJsonEntry(text, 'svc', ENTRY);
    const before = fieldsOf(JSON.parse(text || '{}'));
    const servers = { ...fieldsOf(before['mcpServers']), svc: ENTRY };
    expect(JSON.parse(changed)).toEqual({ ...before, mcpServers: servers });
    expect(withJsonEntry(changed, 'svc', ENTRY)).toBe(changed);
    expect(changed.replaceAll('\r\n', '').includes('\r')).toBe(false);
    const without = fieldsOf(JSON.parse(withoutJsonEntry(changed, PLACE)));
    expect(without).toEqual({ ...before, mcpServers: fieldsOf(before['mcpServers']) });
  });

  it('replaces how a server is reached and keeps what else is set', () => {
    const before = { mcpServers: { svc: { url: 'u', headers: {}, command: 'old', timeout: 5 } } };
    const changed = withJsonEntry(JSON.stringify(before), 'svc', TYPED);
    expect(JSON.parse(changed)).toEqual({ mcpServers: { svc: { ...TYPED, timeout: 5 } } });
  });

  it('keeps comments and trailing commas, and comes back without the entry', () => {
    const text = [
      '{',
      '  // my servers',
      '  "mcpServers": {',
      '    "one": { "url": "http://x" }, // first',
      '    /* "off": {} */',
      '    "two": { "command": "y", /* z */ "args": ["//", "/*"], }, // last',
      '    // more later',
      '  },',
      '  "inputs": [],',
      '}',
      '',
    ].join('\n');
    const changed = withJsonEntry(text, 'svc', ENTRY);
    expect(changed).toContain('    // more later\n    "svc": {\n      "command": "svc",');
    for (const line of text.split('\n')) expect(changed).toContain(line);
    expect(withJsonEntry(changed, 'svc', ENTRY)).toBe(changed);
    expect(withoutJsonEntry(changed, PLACE)).toBe(text);
    const single = withJsonEntry(text.replace('], }, // last', '] } // last'), 'svc', ENTRY);
    expect(single).toContain('] }, // last\n    // more later\n    "svc"');
    expect(withoutJsonEntry(single, PLACE)).toBe(text.replace('], }, // last', '] } // last'));
    expect(withoutJsonEntry(text, PLACE)).toBe(text);
  });

  it.each(['[]', '{"mcpServers": []}', '7', '{', '{"a" 1}', '{"a": 1 "b": 2}', '{} x', '{a: 1}'])(
    'refuses %s',
    (text) => {
      expect(() => withJsonEntry(text, 'svc', ENTRY)).toThrow(/./);
    },
  );
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

  it('comes back without the table', () => {
    const tools = '[mcp_servers.svc.tools.ask]\nmode = "prompt"\n';
    const place = { ...PLACE, servers: 'mcp_servers' };
    for (const text of ['', OTHER, 'a = 1\r\n']) {
      const changed = withTomlEntry(text, 'svc', ENTRY);
      expect(withoutTomlEntry(changed, place)).toBe(text);
      expect(withoutTomlEntry(`${changed}\n${tools}`, place).trimEnd()).toBe(text.trimEnd());
    }
    expect(withoutTomlEntry(OTHER, place)).toBe(OTHER);
    expect(withoutTomlEntry(`${TABLE}\n# next\n[other]\na = 1\n`, place)).toBe(
      '\n# next\n[other]\na = 1\n',
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
