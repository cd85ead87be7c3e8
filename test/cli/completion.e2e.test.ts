import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { webhookKinds } from '../../shared/senders/samples.ts';
import { mailKinds } from '../../cli/samples/mail.ts';
import { MCP_CLIENT_NAMES } from '../../cli/mcp/clients.ts';
import { SAMPLE_NAMES } from '../../shared/rules/inbox/sample-names.ts';
import { SHELL_NAMES } from '../../cli/commands/completion.ts';
import { run } from '../../cli/run.ts';
import { allCommands } from '../../cli/tree.ts';
import { bashScript, fishScript, zshScript } from '../../cli/view/help/completion-scripts.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { required } from '../helpers/require.ts';
import { FakeDaemon, json, refuse } from './fake-daemon.ts';
import { TextSink } from './fake-output.ts';

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

/** Fish lists them itself, the other two are left to what the shell does where it is offered nothing. */
const FILES = { bash: [], zsh: [], fish: ['report.pdf'] };

const GITHUB_PU = SAMPLE_NAMES.filter((name) => name.startsWith('github.pu')).toSorted();

/** A place with an `svc` that knows names, and with a file. */
const bin = temporaryFolder();
writeFileSync(
  join(bin.path, 'svc'),
  `#!/bin/sh
case "$*" in
  "completion --quiet --values profiles") printf 'default\\nacme\\n' ;;
  "completion --quiet --values pending") printf 'evt_1\\nevt_2\\n' ;;
  "completion --quiet --values claimed") echo evt_3 ;;
  "completion --quiet --values sources") printf 'shop\\ngithub\\n' ;;
  "completion --quiet --values files") echo reports/may.pdf ;;
  *) echo nobody answers >&2; exit 7 ;;
esac
`,
);
writeFileSync(join(bin.path, 'report.pdf'), '');
chmodSync(join(bin.path, 'svc'), 0o755);
afterAll(() => bin.remove());

function quoted(word: string): string {
  return `'${word}'`;
}

function offered(shell: keyof typeof SCRIPTS, words: readonly string[]): string[] {
  const before = shell === 'zsh' ? 'compdef() { }\n' : '';
  const script = `${before}${SCRIPTS[shell]}\n${PLAY[shell](words)}\n`;
  const flag = { bash: '--norc', zsh: '-f', fish: '--no-config' }[shell];
  // Longer than an argument may be.
  const file = join(bin.path, 'script');
  writeFileSync(file, script);
  const { stdout, stderr } = spawnSync(shell, [flag, file], {
    encoding: 'utf8',
    cwd: bin.path,
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

const CLIENTS_WITH_C = ['claude-code', 'claude-desktop', 'codex', 'cursor'];

describe.each(['bash', 'zsh', 'fish'] as const)('completion of %s', (shell) => {
  it('knows commands, flags and values', () => {
    for (const word of ['claim', 'lease-seconds', 'standard_webhooks', 'install', 'codex']) {
      expect(SCRIPTS[shell]).toContain(word);
    }
  });

  describe.runIf(isInstalled(shell))('offers', () => {
    it.each([
      ['commands', ['tri'], ['trigger']],
      ['help', ['hel'], ['help']],
      ['pages of help', ['help', 'e'], ['email', 'env', 'environment', 'exit-codes']],
      ['pages of the web inbox', ['open', 'r'], ['requests', 'routes']],
      ['subcommands', ['mcp', ''], ['install', 'uninstall']],
      ['flags', ['inbox', 'claim', 'evt_1', '--le'], ['--lease-seconds']],
      ['values of a flag', ['source', 'add', 'x', '--type', ''], ['email', 'webhook']],
      ['values of an argument', ['completion', ''], ['bash', 'fish', 'zsh']],
      ['those of another', ['mcp', 'install', 'c'], CLIENTS_WITH_C],
      ['those that begin so', ['trigger', 'github.pu'], GITHUB_PU],
      ['mails', ['trigger', 'ema'], ['email', 'email.bounce', 'email.reply']],
      ['what mail can be done with', ['email', ''], ['reply', 'send', 'status']],
      [
        'flags of a mail',
        ['email', 'send', '--re'],
        ['--reply-all', '--reply-to-event', '--reply-to-inbox', '--retry-for'],
      ],
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
      ['events that can be claimed', ['inbox', 'claim', ''], ['evt_1', 'evt_2']],
      ['events that are claimed', ['inbox', 'ack', 'evt'], ['evt_3']],
      ['sources', ['source', 'remove', 'g'], ['github']],
      ['sources for the flag', ['inbox', 'wait', '--source', ''], ['github', 'shop']],
      ['sources to send to', ['trigger', 'webhook', '--source', 's'], ['shop']],
      ['stored files', ['file', 'get', 're'], ['reports/may.pdf']],
      ['files of this machine', ['file', 'put', 'repo'], FILES[shell]],
      ['nothing, and says nothing, where nobody answers', ['request', 'status', ''], []],
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
      'mcp uninstall': MCP_CLIENT_NAMES,
      completion: SHELL_NAMES,
    });
  });
});

describe('the names that are asked for', () => {
  let daemon: FakeDaemon | undefined;
  afterEach(() => daemon?.close());

  async function listening(answer: ConstructorParameters<typeof FakeDaemon>[0]) {
    daemon = new FakeDaemon(answer);
    await daemon.listen();
    return daemon;
  }

  it.each([
    ['pending', '/v1/inbox?status=pending&limit=50', [{ id: 'evt_1' }], 'evt_1\n'],
    ['sources', '/v1/sources', [{ name: 'shop' }, { name: 'github' }], 'shop\ngithub\n'],
    ['requests', '/v1/requests?limit=50', [{ request_id: 'req_1' }], 'req_1\n'],
    // Bash would run what stands in brackets.
    ['files', '/v1/files?limit=100', [{ path: 'a/b.txt' }, { path: '$(id)' }], 'a/b.txt\n'],
    [
      'values',
      '/v1/kv?limit=100',
      [{ key: '-rf' }, { key: 'a b' }, { key: 'last-run' }],
      'last-run\n',
    ],
  ])('are those of %s', async (names, path, items, printed) => {
    const fake = await listening((_, response) => json(response, { items, next_cursor: null }));
    expect(await valuesOf(names, fake.env)).toEqual({ code: 0, out: printed, err: '' });
    expect(fake.seen.map(({ url }) => url)).toEqual([path]);
  });

  it('are none, without a word, where nobody answers or the answer is a refusal', async () => {
    const nothing = { code: 0, out: '', err: '' };
    expect(await valuesOf('sources', { SVC_HOME: '/nonexistent' })).toEqual(nothing);
    const fake = await listening((_, response) => refuse(response, 403, 'SCOPE_MISSING'));
    expect(await valuesOf('keys', fake.env)).toEqual(nothing);
  });

  it('are of something that is known', async () => {
    const { code, err } = await valuesOf('secrets', { SVC_HOME: '/nonexistent' });
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining(`--values can't be "secrets"`),
    });
  });
});

async function valuesOf(names: string, env: NodeJS.ProcessEnv) {
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  const argv = ['completion', '--quiet', '--values', names];
  const { signal } = new AbortController();
  const code = await run(argv, { env, stdout, stderr, signal });
  return { code, out: stdout.text, err: stderr.text };
}
