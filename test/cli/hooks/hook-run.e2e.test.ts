import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { visit } from '../../helpers/page-visitor.ts';
import { Harness } from '../../surface/harness.ts';
import { linkAbout } from '../approvals/outbox-link.ts';
import { fieldsOf, parsedLine } from '../tools/fakes.ts';
import { start } from '../tools/processes.ts';
import { claudeCode, codex, cursorMcp, cursorShell, gemini } from './payloads.ts';

const PATIENCE = { timeout: 60_000 };

const folder = temporaryFolder();
let daemon: Harness;
beforeAll(async () => {
  daemon = await Harness.local('hook-test');
});
afterAll(async () => {
  await daemon.stop();
  folder.remove();
});

/** A hook as a client starts it, with the payload on its standard input. */
function hook(client: string, payload: object, flags: readonly string[] = []) {
  const args = [daemon.bundle, 'hook', 'run', client, ...flags];
  return start(process.execPath, args, { env: daemon.env, input: JSON.stringify(payload) });
}

async function answerOf(client: string, payload: object): Promise<unknown> {
  return JSON.parse((await hook(client, payload).ended).out);
}

async function requests(): Promise<Record<string, unknown>[]> {
  const { out } = await daemon.svc('request', 'list', '--status', 'all', '--limit', '100');
  const items: unknown = parsedLine(out)['items'];
  return (Array.isArray(items) ? items : []).map(fieldsOf);
}

/** The request that asks about this command or file. */
async function requestAbout(text: string): Promise<Record<string, unknown>> {
  const find = async () =>
    (await requests()).find(({ details }) => String(details).includes(text)) ?? null;
  await expect.poll(find, PATIENCE).not.toBeNull();
  return fieldsOf(await find());
}

const inSession = (command: string) => ({ ...claudeCode(command), session_id: 'stopped-one' });

const ALLOWED = {
  hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } },
};

describe('svc hook run', () => {
  it('lets the tool run when a person approves, having seen exactly what it gets', async () => {
    const command = 'touch made && echo approved';
    const { ended } = hook('claude-code', claudeCode(command));
    const asked = await requestAbout(command);
    expect(asked).toMatchObject({
      action: 'tool.Bash',
      summary: `Run \`${command}\` in shop`,
      bind: { command, description: 'Make a file' },
      risk: 'medium',
    });
    const details = String(asked['details']);
    expect(details).toContain(
      `${command}\n\nFolder: /home/ana/shop\nClient: Claude Code, session 03`,
    );
    await visit(await linkAbout(daemon, 'echo approved'), { button: 'Approve' });
    const { code, out, err } = await ended;
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(out)).toEqual(ALLOWED);
  });

  it('stops the tool when a person denies, and tells the agent why', async () => {
    const { ended } = hook('claude-code', claudeCode('echo denied'));
    const typed = { comment: 'use the staging copy' };
    await visit(await linkAbout(daemon, 'echo denied'), { button: 'Deny', typed });
    const message = 'A person denied this: use the staging copy';
    const decision = { behavior: 'deny', message };
    expect(JSON.parse((await ended).out)).toEqual({
      hookSpecificOutput: { hookEventName: 'PermissionRequest', decision },
    });
  });

  it('asks once where a person approves a command for an hour, and no more once they stop the session', async () => {
    const asked = hook('claude-code', inSession('echo hourly'));
    const page = await visit(await linkAbout(daemon, 'echo hourly'), { button: 'for an hour' });
    expect(page).toContain('this is approved in this session without asking: this very command');
    expect(JSON.parse((await asked.ended).out)).toEqual(ALLOWED);
    expect(await answerOf('claude-code', inSession('echo hourly'))).toEqual(ALLOWED);
    const other = hook('claude-code', inSession('echo other'));
    await visit(await linkAbout(daemon, 'echo other'), { button: 'Stop this session' });
    const message = 'A person stopped this session.';
    const decision = { behavior: 'deny', message, interrupt: true };
    const stopped = { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } };
    expect(JSON.parse((await other.ended).out)).toEqual(stopped);
    expect(await answerOf('claude-code', inSession('echo hourly'))).toEqual(stopped);
    expect(await requestAbout('echo other')).toMatchObject({
      thread: expect.stringMatching(/^shop on \S+, session stopped-one$/) as string,
    });
  });

  it('leaves the prompt to the client when nobody answers in time, and takes the question back', async () => {
    const { ended } = hook('claude-code', claudeCode('echo late'), ['--wait', '10s']);
    expect(await ended).toEqual({ code: 0, out: '', err: '' });
    expect(await requestAbout('echo late')).toMatchObject({
      status: 'expired',
      hint: 'withdrawn: nobody answered in time, so the prompt on the screen decides.',
    });
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)(
    'takes the question back when the client sends %s, and prints nothing',
    async (signal) => {
      const { child, ended } = hook('claude-code', claudeCode(`echo ${signal}`));
      await requestAbout(`echo ${signal}`);
      child.kill(signal);
      expect((await ended).out).toBe('');
      expect(await requestAbout(`echo ${signal}`)).toMatchObject({
        status: 'expired',
        hint: 'withdrawn: the prompt was answered or closed on the screen.',
      });
    },
  );

  it('takes the question back when the transcript says that the prompt was answered on the screen', async () => {
    const transcript = join(folder.path, 'session.jsonl');
    const input = { command: 'echo screen', description: 'Make a file' };
    const used = (id: string) => line([{ type: 'tool_use', id, name: 'Bash', input }]);
    writeFileSync(transcript, used('toolu_0') + resultOf('toolu_0') + used('toolu_1'));
    const payload = { ...claudeCode('echo screen'), transcript_path: transcript };
    const { child, ended } = hook('claude-code', payload);
    await requestAbout('echo screen');
    appendFileSync(transcript, resultOf('toolu_other'));
    expect(child.exitCode).toBeNull();
    appendFileSync(transcript, resultOf('toolu_1'));
    expect((await ended).out).toBe('');
    expect(await requestAbout('echo screen')).toMatchObject({ status: 'expired' });
  });

  it('asks nobody where the policy knows the answer', async () => {
    const policy = {
      rules: [
        {
          id: 'no-rm',
          effect: 'deny',
          action: 'tool.*',
          bind: { '/command': { command: 'rm *' } },
        },
        {
          id: 'tests',
          effect: 'auto_approve',
          action: ['tool.Bash', 'tool.run_shell_command', 'tool.Shell'],
          bind: { '/command': { command: ['npm test', 'git status'] } },
        },
      ],
    };
    const set = daemon.svc('policy', 'set', JSON.stringify(policy), '--wait-seconds', '60');
    await visit(await linkAbout(daemon, 'policy'), { button: 'Approve' });
    expect((await set).code).toBe(0);
    expect(await answerOf('claude-code', claudeCode('npm test && git status'))).toEqual(ALLOWED);
    expect(await answerOf('codex', codex('npm test'))).toEqual(ALLOWED);
    expect(await answerOf('gemini', gemini('npm test'))).toEqual({ decision: 'allow' });
    expect(await answerOf('cursor', cursorShell('npm test'))).toEqual({ permission: 'allow' });
    const denial = 'The policy denies this (rule no-rm).';
    expect(await answerOf('gemini', gemini('rm -rf x'))).toEqual({
      decision: 'deny',
      reason: denial,
    });
    expect(await answerOf('cursor', cursorShell('ls; rm x'))).toEqual({
      permission: 'deny',
      user_message: denial,
      agent_message: denial,
    });
  });

  it('leaves dialogs and its own tools to the client', async () => {
    for (const tool_name of ['AskUserQuestion', 'ExitPlanMode', 'mcp__svc__ask_approval']) {
      const { ended } = hook('claude-code', { ...claudeCode('x'), tool_name });
      expect(await ended).toEqual({ code: 0, out: '', err: '' });
    }
  });

  it('shows the lines that an edit changes, and whose tool a server has', async () => {
    const tool_input = {
      file_path: '/home/ana/shop/src/cart.ts',
      old_string: 'a\nb\nc\nd\ne',
      new_string: 'a\nb\nC\nd\ne',
    };
    const edit = { ...claudeCode(''), tool_name: 'Edit', tool_input };
    const { child } = hook('claude-code', edit);
    const asked = await requestAbout('- c\n+ C');
    expect(asked).toMatchObject({ action: 'tool.Edit', summary: 'Change src/cart.ts in shop' });
    expect(asked['details']).toContain('  a\n  b\n- c\n+ C\n  d\n  e\n\nFolder');
    expect(asked['bind']).toEqual(tool_input);
    child.kill();
    const mcp = hook('cursor', cursorMcp('drop_table', { name: 'orders' }));
    expect(await requestAbout('orders')).toMatchObject({
      action: 'tool.mcp__drop_table',
      bind: { server: 'https://db.example.com/mcp', input: { name: 'orders' } },
    });
    mcp.child.kill();
  });

  it('binds digests of what is too long to be bound', async () => {
    const content = 'line\n'.repeat(3000);
    const tool_input = { file_path: '/home/ana/shop/long.txt', content };
    const { child } = hook('claude-code', { ...claudeCode(''), tool_name: 'Write', tool_input });
    const asked = await requestAbout('The rest is too long to show here.');
    expect(asked['bind']).toEqual({
      file_path: '/home/ana/shop/long.txt',
      content: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string, bytes: 15_000 },
    });
    child.kill();
  });
});

describe('without an answer', () => {
  const UNDECIDED: Record<string, (note: string) => object> = {
    'claude-code': (systemMessage) => ({ systemMessage }),
    codex: (systemMessage) => ({ systemMessage }),
    gemini: (systemMessage) => ({ decision: 'ask', systemMessage }),
    cursor: (user_message) => ({ permission: 'ask', user_message }),
  };
  const PAYLOADS: Record<string, object> = {
    'claude-code': claudeCode('ls'),
    codex: codex('ls'),
    gemini: gemini('ls'),
    cursor: cursorShell('ls'),
  };

  it.each(Object.keys(UNDECIDED))('never says yes to %s', async (client) => {
    const empty = join(folder.path, client);
    mkdirSync(empty, { mode: 0o700 });
    const said = async (payload: string, home = empty): Promise<unknown> => {
      const env = { ...daemon.env, SVC_HOME: home };
      const args = [daemon.bundle, 'hook', 'run', client];
      const { code, out } = await start(process.execPath, args, { env, input: payload }).ended;
      expect(code).toBe(0);
      return JSON.parse(out);
    };
    const undecided = UNDECIDED[client] ?? (() => ({}));
    const own = daemon.env['SVC_HOME'];
    const noDaemon = fieldsOf(await said(JSON.stringify(PAYLOADS[client])));
    expect(noDaemon).toEqual(
      undecided(String(noDaemon['systemMessage'] ?? noDaemon['user_message'])),
    );
    const unread = undecided("svc couldn't read the client's question.");
    for (const payload of ['', '{', '[]', 'null', '\0']) {
      expect(await said(payload, own)).toEqual(unread);
    }
    const long = JSON.stringify(PAYLOADS[client]).replace('"ls"', `"ls ${'x'.repeat(4000)}"`);
    expect(await said(long, own)).toEqual(
      undecided('svc asked nobody. The command is too long to show whole.'),
    );
    const odd = JSON.stringify(PAYLOADS[client]).replace('"ls"', String.raw`"ls \u001b[2K"`);
    expect(await said(odd, own)).toEqual(
      undecided("svc asked nobody. The call has characters that a page can't show."),
    );
  });
});

function resultOf(id: string): string {
  return line([{ type: 'tool_result', tool_use_id: id, content: 'hi' }]);
}

function line(content: readonly object[]): string {
  return `${JSON.stringify({ type: 'x', message: { content } })}\n`;
}
