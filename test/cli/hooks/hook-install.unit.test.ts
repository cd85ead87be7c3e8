import { describe, expect, it } from 'vitest';
import { HOOK_CLIENTS } from '../../../cli/hooks/clients.ts';
import { editedText, type HookSetup } from '../../../cli/hooks/setup.ts';

const PLACES = { home: '/home/ana', project: '/home/ana/shop', env: {} };

function setup(name: keyof typeof HOOK_CLIENTS, wait = ''): HookSetup {
  const client = HOOK_CLIENTS[name];
  const profile = `hook-${name}`;
  const command = `/usr/bin/node /opt/svc.cjs hook run ${name} --profile ${profile}${wait}`;
  return {
    clientName: name,
    client,
    scope: 'user',
    file: client.file.user(PLACES),
    roots: [],
    profile,
    label: '',
    entries: client.entries({ command, seconds: 60 }),
  };
}

const OTHER = '{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "./guard.sh" }] }';
const FILES = {
  'without hooks':
    '{\n  // mine\n  "model": "opus",\n  "permissions": { "allow": ["Bash(ls)"] }\n}\n',
  'with hooks of other events': `{\n\t"hooks": {\n\t\t"Stop": [${OTHER}]\n\t},\n\t"a": 1\n}\n`,
  'with others for the same event': `{\n  "hooks": {\n    "PermissionRequest": [\n      ${OTHER}\n    ],\n    "BeforeTool": [\n      ${OTHER}\n    ],\n    "beforeShellExecution": [\n      { "command": "x" }\n    ],\n    "beforeMCPExecution": [\n      { "command": "x" }\n    ]\n  },\n  "version": 1\n}\n`,
  'with commas at the end': `{\n  "hooks": {\n    "Stop": [\n      ${OTHER},\n    ],\n  },\n}\n`,
  'with carriage returns': '{\r\n  "model": "x"\r\n}\r\n',
};

describe.each(['claude-code', 'codex', 'gemini', 'cursor'] as const)('the hook of %s', (name) => {
  it.each(Object.entries(FILES))('goes into a file %s and out without a trace', (_, text) => {
    const file = name === 'cursor' && !text.includes('"version"') ? versioned(text) : text;
    const added = editedText(file, setup(name), 'add');
    expect(added).not.toBe(file);
    expect(editedText(added, setup(name), 'add')).toBe(added);
    expect(editedText(added, setup(name), 'remove')).toBe(file);
  });

  it('is there once, with the newest time', () => {
    const old = editedText('', setup(name), 'add');
    const next = editedText(old, setup(name, ' --wait 120s'), 'add');
    expect(next).toBe(editedText('', setup(name, ' --wait 120s'), 'add'));
    expect(next.match(/hook run/g)).toHaveLength(Object.keys(setup(name).entries).length);
  });

  it('stays out of a file that has something else in its place', () => {
    for (const text of ['{"hooks": []}', '[]', '{', '{"hooks": 5}']) {
      expect(() => editedText(text, setup(name), 'add')).toThrow(/^Its? /);
    }
  });

  it('stays where the user has put it together with others', () => {
    const [list = '', entry] = Object.entries(setup(name).entries)[0] ?? [];
    const own = (entry as { hooks?: object[] }).hooks?.[0] ?? null;
    if (own === null) return;
    const text = JSON.stringify({ hooks: { [list]: [{ hooks: [own, { command: 'mine' }] }] } });
    expect(editedText(text, setup(name), 'remove')).toBe(text);
  });
});

/** As Cursor wants it. */
function versioned(text: string): string {
  return text.replace('{', '{ "version": 1,');
}

it('knows each client by its own files', () => {
  const files = Object.entries(HOOK_CLIENTS).map(([name, { file }]) => [
    name,
    file.user(PLACES),
    file.project(PLACES),
  ]);
  expect(files).toEqual([
    [
      'claude-code',
      '/home/ana/.claude/settings.json',
      '/home/ana/shop/.claude/settings.local.json',
    ],
    ['codex', '/home/ana/.codex/hooks.json', '/home/ana/shop/.codex/hooks.json'],
    ['cursor', '/home/ana/.cursor/hooks.json', '/home/ana/shop/.cursor/hooks.json'],
    ['gemini', '/home/ana/.gemini/settings.json', '/home/ana/shop/.gemini/settings.json'],
  ]);
});
