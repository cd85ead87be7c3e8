import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { webhookKinds } from '../../cli/commands/samples/kinds.ts';
import { mailKinds } from '../../cli/commands/samples/mail.ts';
import { MCP_CLIENT_NAMES, SAMPLE_NAMES, SHELL_NAMES } from '../../cli/commands/specs-names.ts';
import { allCommands } from '../../cli/tree.ts';
import { bashScript, fishScript, zshScript } from '../../cli/view/completion-scripts.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { required } from '../helpers/require.ts';

const SCRIPTS = {
  bash: bashScript(allCommands()),
  zsh: zshScript(allCommands()),
  fish: fishScript(allCommands()),
};

/** What stands behind the script: the shell's own part played, and the words offered printed one a line. */
const PLAY: Record<keyof typeof SCRIPTS, (words: readonly string[]) => string> = {
  // Bash has `=` as a word of its own.
  bash: (words) => `
COMP_WORDS=(${words
    .flatMap((word) => word.split(/(?<=^-.*)(=)/))
    .map(quoted)
    .join(' ')})
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_svc
printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: (words) => `
compadd() { shift; print -rl -- "\${(@M)@:#\${words[CURRENT]}*}" }
_describe() { local -a all; all=("\${(@P)2}"); compadd -- "\${(@)all%%:*}" }
_files() { }
words=(${words.map(quoted).join(' ')}) CURRENT=${words.length}
_svc`,
  fish: (words) => `
for line in (complete -C ${quoted(words.join(' '))}); string split -f 1 -- \\t $line; end`,
};

const GITHUB_PU = SAMPLE_NAMES.filter((name) => name.startsWith('github.pu')).toSorted();

/** A place with an `svc` that knows of two profiles. */
const bin = temporaryFolder();
writeFileSync(
  join(bin.path, 'svc'),
  '#!/bin/sh\n[ "$*" = "project list --names" ] && printf "default\\nacme\\n"\n',
);
chmodSync(join(bin.path, 'svc'), 0o755);
afterAll(() => bin.remove());

function quoted(word: string): string {
  return `'${word}'`;
}

function offered(shell: keyof typeof SCRIPTS, words: readonly string[]): string[] {
  const before = shell === 'zsh' ? 'compdef() { }\n' : '';
  const script = `${before}${SCRIPTS[shell]}\n${PLAY[shell](words)}\n`;
  const flag = { bash: '--norc', zsh: '-f', fish: '--no-config' }[shell];
  const { stdout, stderr } = spawnSync(shell, [flag, '-c', script], {
    encoding: 'utf8',
    cwd: '/',
    env: { ...process.env, PATH: `${bin.path}:${process.env['PATH']}` },
  });
  expect(stderr).toBe('');
  return stdout.split('\n').filter(Boolean).toSorted();
}

function isInstalled(shell: string): boolean {
  // The bash of macOS is older than its script needs.
  const probe = shell === 'bash' ? 'declare -A table' : 'true';
  const installed = spawnSync(shell, ['-c', probe]).status === 0;
  return required(`completion of ${shell}`, installed, 'the shell is not installed, or too old');
}

describe.each(['bash', 'zsh', 'fish'] as const)('completion of %s', (shell) => {
  it('knows commands, flags and values', () => {
    for (const word of ['claim', 'lease-seconds', 'standard_webhooks', 'install', 'codex']) {
      expect(SCRIPTS[shell]).toContain(word);
    }
  });

  describe.runIf(isInstalled(shell))('offers', () => {
    it.each([
      ['commands', ['tri'], ['trigger']],
      ['subcommands', ['mcp', ''], ['install']],
      ['flags', ['inbox', 'claim', 'evt_1', '--le'], ['--lease-seconds']],
      ['values of a flag', ['source', 'add', 'x', '--type', ''], ['email', 'webhook']],
      ['values of an argument', ['completion', ''], ['bash', 'fish', 'zsh']],
      ['those of another', ['mcp', 'install', ''], ['claude-code', 'codex', 'cursor']],
      ['those that begin so', ['trigger', 'github.pu'], GITHUB_PU],
      ['mails', ['trigger', 'ema'], ['email', 'email.bounce', 'email.reply']],
      ['what mail can be done with', ['email', ''], ['send', 'status']],
      ['flags of a mail', ['email', 'send', '--re'], ['--reply-to-inbox']],
      ['kinds of channels', ['channel', 'add', ''], ['email', 'telegram']],
      ['ways a request stands', ['request', 'watch', '--status', 'an'], ['answered']],
      ['risks', ['ask', 'approval', 'a', 'b', '--risk', ''], ['high', 'low', 'medium']],
      ['people', ['re'], ['request']],
      ['them after flags', ['trigger', '--dry-run', '--source', 's', 'github.pu'], GITHUB_PU],
      ['them after a value behind =', ['trigger', '--source=s', 'github.pu'], GITHUB_PU],
      ['them after short flags', ['api', '-H', 'X', ''], ['DELETE', 'GET', 'POST', 'PUT']],
      ['them after global flags', ['--profile', 'trigger', 'completion', 'z'], ['zsh']],
      ['profiles', ['project', 'use', ''], ['acme', 'default']],
      ['profiles that begin so', ['logout', 'ac'], ['acme']],
      ['profiles for the flag', ['inbox', 'list', '--profile', ''], ['acme', 'default']],
      ['them behind other flags', ['inbox', 'list', '--limit', '3', '--profile', 'd'], ['default']],
      ['nothing after the argument', ['trigger', 'github.push', 'github.pu'], []],
    ])('%s: %j', (_, words, wanted) => {
      expect(offered(shell, ['svc', ...words])).toEqual(wanted);
    });

    it('no arguments where a flag needs its value', () => {
      expect(offered(shell, ['svc', 'trigger', '--source', 'github.pu'])).toEqual([]);
    });
  });
});

describe('the names that completion offers', () => {
  it('are those of the samples', () => {
    expect(SAMPLE_NAMES).toEqual([...webhookKinds, ...mailKinds].map(({ kind }) => kind));
  });

  it('stand with the arguments', () => {
    const known = allCommands().flatMap(({ words, args }) =>
      args.flatMap(({ choices }) => (choices ? [[words.join(' '), choices] as const] : [])),
    );
    expect(Object.fromEntries(known)).toMatchObject({
      trigger: SAMPLE_NAMES,
      'mcp install': MCP_CLIENT_NAMES,
      completion: SHELL_NAMES,
    });
  });
});
