import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findProgram } from '../helpers/programs.ts';
import { required } from '../helpers/require.ts';
import { installPackage } from './installed.ts';
import { Machine } from './machine.ts';

const installed = await installPackage();
let machine: Machine;

beforeEach(() => {
  machine = new Machine(installed);
});
afterEach(() => machine.remove());

describe.runIf(installed)('svc mcp install of the installed package', () => {
  it.each([
    ['claude-code', '.claude.json'],
    ['codex', '.codex/config.toml'],
    ['cursor', '.cursor/mcp.json'],
  ])('sets %s up in an empty home, once', async (client, file) => {
    const install = () => machine.json('mcp', 'install', client, '--scope', 'user');
    const path = join(machine.home, file);
    expect(await install()).toMatchObject({ file: path, changed: true, name: 'svc' });
    const text = readFileSync(path, 'utf8');
    expect(text).toContain('mcp');
    expect(await install()).toMatchObject({ changed: false });
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('writes an entry that starts the tools', async () => {
    await machine.svc('up', '--port', '0');
    await machine.svc('mcp', 'install', 'cursor');
    const text = readFileSync(join(machine.home, '.cursor', 'mcp.json'), 'utf8');
    type Entries = { mcpServers: { svc: { command: string; args: string[] } } };
    const { command, args } = (JSON.parse(text) as Entries).mcpServers.svc;
    const started = machine.startProgram(command, args);
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'cursor', version: '1' },
    };
    started.child.stdin.write(
      `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`,
    );
    expect(await started.prints(/^\{.*"id":1.*$/m)).toContain('"serverInfo"');
  });
});

/** Each loads its script as the help says, and prints what it offers for `svc tri`. */
const SHELLS = {
  bash: `
source "$HOME/svc.bash"
COMP_WORDS=(svc tri) COMP_CWORD=1
_svc
printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: `
compdef() { }
source "$HOME/svc.zsh"
compadd() { shift; print -rl -- "\${(@M)@:#\${words[CURRENT]}*}" }
_describe() { local -a all; all=("\${(@P)2}"); compadd -- "\${(@)all%%:*}" }
words=(svc tri) CURRENT=2
_svc`,
  fish: `
source "$HOME/svc.fish"
complete -C 'svc tri' | string split -f 1 \\t`,
} as const;

describe.runIf(installed).each(['bash', 'zsh', 'fish'] as const)('completion of %s', (shell) => {
  const present = required(`completion of ${shell}`, findProgram(shell) !== null, 'not installed');

  it.runIf(present)('is printed by the installed command, and offers its words', async () => {
    writeFileSync(join(machine.home, `svc.${shell}`), await machine.svc('completion', shell));
    const script = join(machine.home, 'script');
    writeFileSync(script, SHELLS[shell]);
    const flag = { bash: '--norc', zsh: '-f', fish: '--no-config' }[shell];
    const { out, err } = await machine.startProgram(shell, [flag, script]).ended;
    expect([out, err]).toEqual(['trigger\n', '']);
  });
});

describe.runIf(installed)('the command', () => {
  it('runs through any link to it, wherever it is called', async () => {
    const bin = join(machine.home, 'bin');
    mkdirSync(bin);
    // A link to the link of npm, as version managers make them.
    symlinkSync(machine.command, join(bin, 'svc'));
    const version = await machine.startProgram(join(bin, 'svc'), ['--version']).ended;
    expect(version).toMatchObject({ code: 0, err: '' });
    const up = await machine.startProgram(join(bin, 'svc'), ['up', '--port', '0']).ended;
    expect(up).toMatchObject({ code: 0 });
    expect(await machine.json('status')).toMatchObject({ version: version.out.trim() });
  });

  it('finds its processes and its schema beside itself', () => {
    const dist = dirname(realpathSync(machine.command));
    expect(dist).toMatch(/node_modules\/svc-agents\/dist$/);
    expect(readFileSync(join(dist, 'migrations', 'project', '001_initial.sql'), 'utf8')).toContain(
      'CREATE TABLE',
    );
  });
});
