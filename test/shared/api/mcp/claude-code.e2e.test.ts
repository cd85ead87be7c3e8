import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { svc, svcUp } from '../../../helpers/daemon.ts';
import { temporaryFolder } from '../../../helpers/gateway.ts';
import { ScriptedModel } from '../../../helpers/scripted-model.ts';

/** Its program, which the repository doesn't have: `npm i @anthropic-ai/claude-code` brings it. */
const CLAUDE = process.env['SVC_CLAUDE_CODE'] ?? '';
const KEY = 'sk-ant-test';

/** Claude Code in a terminal: only there it takes tasks. */
class Terminal {
  readonly #child: ChildProcessWithoutNullStreams;
  /** All that was on the screen so far, without its colours and spaces. */
  #shown = '';

  constructor(home: string, env: Readonly<Record<string, string>>, args: readonly string[]) {
    const command = `stty rows 40 cols 120; exec ${[CLAUDE, ...args].join(' ')}`;
    this.#child = spawn('script', ['-qfec', command, '/dev/null'], {
      cwd: home,
      env: { ...process.env, ...env, HOME: home, TERM: 'xterm-256color' },
    });
    this.#child.stdout.on('data', (bytes: Buffer) => (this.#shown += bytes.toString()));
  }

  get shown(): string {
    // oxlint-disable-next-line no-control-regex -- terminals are told so
    return this.#shown.replaceAll(/\u001B\[[0-9;?]*[ -/]*[@-~]|\s/g, '');
  }

  type(keys: string): void {
    this.#child.stdin.write(keys);
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }
}

describe.runIf(CLAUDE !== '')('an idle Claude Code', () => {
  const folder = temporaryFolder();
  const home = join(folder.path, 'svc');
  let model: ScriptedModel;
  let terminal: Terminal;

  beforeAll(async () => {
    await svcUp(home);
    model = await ScriptedModel.start([
      { tool: 'mcp__svc__inbox_wait', input: { source: 'shop' } },
      { text: 'I end my turn.' },
      { text: 'I went on.' },
    ]);
  });
  afterAll(async () => {
    terminal.end();
    await model.stop();
    await svc(home, ['down']);
    folder.remove();
  });

  it('goes on by itself when the event of its task has come', async () => {
    const { url } = JSON.parse(await svc(home, ['source', 'add', 'shop', '--json'])) as {
      url: string;
    };
    const user = join(folder.path, 'user');
    mkdirSync(user);
    const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
    const settings = {
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: [KEY], rejected: [] },
      projects: { [user]: trusted },
    };
    writeFileSync(join(user, '.claude.json'), JSON.stringify(settings));
    const args = [resolve('dist/svc.cjs'), 'mcp'];
    const server = { command: process.execPath, args, env: { SVC_HOME: home } };
    const servers = join(folder.path, 'mcp.json');
    writeFileSync(servers, JSON.stringify({ mcpServers: { svc: server } }));
    const env = {
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: KEY,
      DISABLE_TELEMETRY: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    };
    const flags = ['--mcp-config', servers, '--allowedTools', "'mcp__svc__*'"];
    terminal = new Terminal(user, env, flags);
    await expect.poll(() => terminal.shown).toContain('❯');
    terminal.type('Goahead');
    await expect.poll(() => terminal.shown).toContain('Goahead');
    terminal.type('\r');
    await expect.poll(() => terminal.shown).toContain('1MCPtaskstillrunning');
    expect(model.told).toHaveLength(2);
    await fetch(url, { method: 'POST', body: 'order 7' });
    await expect.poll(() => terminal.shown).toContain('Iwenton.');
    expect(model.told).toHaveLength(3);
    expect(model.told[2]).toContain('order 7');
  });
});
