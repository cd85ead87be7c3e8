import { join } from 'node:path';
import { parseExact } from '../../shared/lib/json/exact-json.ts';
import { isObject } from '../../shared/lib/guards.ts';
import type { Paths } from '../mcp/clients.ts';
import { ruleSuggested } from './suggestions.ts';
import type { ToolCall, Verdict } from './tool-call.ts';

/** The clients whose prompts `svc hook` can answer. */
export const HOOK_CLIENT_NAMES = ['claude-code', 'codex', 'cursor', 'gemini'] as const;

export type HookClientName = (typeof HOOK_CLIENT_NAMES)[number];

type Payload = Readonly<Record<string, unknown>>;

interface Entry {
  readonly command: string;
  /** How long the client should wait for the hook. */
  readonly seconds: number;
}

export interface HookClient {
  readonly title: string;
  /** The call that a payload is about; null for a prompt that svc leaves alone. */
  readonly read: (payload: Payload) => ToolCall | null;
  /** What the client reads; null prints nothing. */
  readonly answer: (verdict: Verdict) => object | null;
  /** How long a person has, in seconds, unless `--wait` says otherwise. */
  readonly waitSeconds: number;
  readonly file: {
    readonly user: (paths: Paths) => string;
    readonly project: (paths: Paths) => string;
  };
  /** What the file needs besides the hooks. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The entries in the lists of `hooks`, by the event. */
  readonly entries: (entry: Entry) => Readonly<Record<string, unknown>>;
  /** What the user still has to do. */
  readonly next: string;
}

const HOUR = 3600;
const MINUTE = 60;

/** The dialogs that need more than a yes or no, which only the screen can ask for. */
const DIALOGS: ReadonlySet<string> = new Set(['AskUserQuestion', 'ExitPlanMode', 'ask_user']);
/** svc's own tools have the policy and the person behind them already. A plugin's server has the plugin's name before its own. */
const OWN_TOOL = /^mcp__?(?:plugin_svc_)?svc_/;

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The form that Claude Code, Codex and Gemini CLI share. */
function readCommon(payload: Payload): ToolCall | null {
  const tool = text(payload['tool_name']);
  if (tool === null || DIALOGS.has(tool) || OWN_TOOL.test(tool)) return null;
  const { tool_input: input } = payload;
  const { command, description } = isObject(input) ? input : {};
  const remark = text(description);
  return {
    tool,
    input,
    command: SHELLS.has(tool) ? text(command) : null,
    cwd: text(payload['cwd']),
    session: text(payload['session_id']),
    transcript: null,
    suggestedRule: null,
    said: remark === null ? [] : [["The agent's remark", remark]],
  };
}

/** The client shows its own prompt while the hook runs, and only the transcript tells us when somebody answers it. */
function readClaudeCode(payload: Payload): ToolCall | null {
  const call = readCommon(payload);
  if (call === null) return null;
  const transcript = text(payload['transcript_path']);
  return {
    ...call,
    transcript,
    suggestedRule: ruleSuggested(payload['permission_suggestions'], call),
  };
}

const SHELLS: ReadonlySet<string> = new Set(['Bash', 'run_shell_command']);

/** Cursor has an event of its own for commands, which names no tool, and one for servers' tools. */
function readCursor(payload: Payload): ToolCall | null {
  const roots: unknown = payload['workspace_roots'];
  const root = Array.isArray(roots) ? text(roots[0]) : null;
  const where = {
    cwd: text(payload['cwd']) ?? root,
    session: text(payload['conversation_id']),
    transcript: null,
    suggestedRule: null,
  };
  const command = text(payload['command']);
  if (payload['hook_event_name'] !== 'beforeMCPExecution') {
    if (command === null) return null;
    return { ...where, tool: 'Shell', input: { command }, command, said: [] };
  }
  const name = text(payload['tool_name']);
  if (name === null) return null;
  // Tools of two servers may have the same name, so the server is bound, too.
  const server = text(payload['url']) ?? command;
  const input = { server, input: cursorInput(payload['tool_input']) };
  const said = server === null ? [] : ([['Server', server]] as const);
  return { ...where, tool: `mcp__${name}`, input, command: null, said };
}

/** Cursor writes a tool's input as JSON in a text. */
function cursorInput(given: unknown): unknown {
  if (typeof given !== 'string') return given;
  try {
    return parseExact(given);
  } catch {
    return given;
  }
}

/** Claude Code goes on with something else after a denial, unless it's interrupted. */
function claudeCodeAnswer(verdict: Verdict): object | null {
  return permission(verdict, { interrupt: true });
}

/** Codex takes an interruption for a broken hook. */
function codexAnswer(verdict: Verdict): object | null {
  return permission(verdict, {});
}

function permission(verdict: Verdict, stop: object): object | null {
  if (verdict.kind === 'undecided') {
    return verdict.note === null ? null : { systemMessage: verdict.note };
  }
  const decision =
    verdict.kind === 'allow'
      ? { behavior: 'allow' }
      : { behavior: 'deny', message: verdict.message, ...(verdict.isStop && stop) };
  return { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } };
}

function geminiAnswer(verdict: Verdict): object {
  if (verdict.kind === 'allow') return { decision: 'allow' };
  if (verdict.kind === 'deny') return { decision: 'deny', reason: verdict.message };
  // Without a decision Gemini CLI goes on by its own rules, which may run the tool without a question.
  return { decision: 'ask', ...(verdict.note !== null && { systemMessage: verdict.note }) };
}

function cursorAnswer(verdict: Verdict): object {
  if (verdict.kind === 'allow') return { permission: 'allow' };
  if (verdict.kind === 'deny') {
    const { message } = verdict;
    return { permission: 'deny', user_message: message, agent_message: message };
  }
  return { permission: 'ask', ...(verdict.note !== null && { user_message: verdict.note }) };
}

export const HOOK_CLIENTS: Readonly<Record<HookClientName, HookClient>> = {
  'claude-code': {
    title: 'Claude Code',
    read: readClaudeCode,
    answer: claudeCodeAnswer,
    // Its prompt stays on the screen meanwhile, so nobody is kept waiting.
    waitSeconds: 24 * HOUR,
    file: {
      user: ({ home, env }) =>
        join(env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'), 'settings.json'),
      project: ({ project }) => join(project, '.claude', 'settings.local.json'),
    },
    fields: {},
    entries: ({ command, seconds }) => ({
      // In place of the shell, so that the hook notices when Claude Code is gone.
      PermissionRequest: {
        hooks: [{ type: 'command', command: `exec ${command}`, timeout: seconds }],
      },
    }),
    next: 'Restart Claude Code; /hooks shows it.',
  },
  codex: {
    title: 'Codex',
    read: readCommon,
    answer: codexAnswer,
    waitSeconds: 5 * MINUTE,
    file: {
      user: ({ home, env }) => join(env['CODEX_HOME'] || join(home, '.codex'), 'hooks.json'),
      project: ({ project }) => join(project, '.codex', 'hooks.json'),
    },
    fields: {},
    entries: ({ command, seconds }) => ({
      PermissionRequest: { hooks: [{ type: 'command', command, timeout: seconds }] },
    }),
    next: 'Restart Codex, open /hooks and trust the hook.',
  },
  cursor: {
    title: 'Cursor',
    read: readCursor,
    answer: cursorAnswer,
    waitSeconds: 5 * MINUTE,
    file: {
      user: ({ home }) => join(home, '.cursor', 'hooks.json'),
      project: ({ project }) => join(project, '.cursor', 'hooks.json'),
    },
    fields: { version: 1 },
    entries: ({ command, seconds }) => {
      // A hook that fails must not let the command run.
      const entry = { command, timeout: seconds, failClosed: true };
      return { beforeShellExecution: entry, beforeMCPExecution: entry };
    },
    next: 'Restart Cursor; its settings show the hook.',
  },
  gemini: {
    title: 'Gemini CLI',
    read: readCommon,
    answer: geminiAnswer,
    waitSeconds: 5 * MINUTE,
    file: {
      user: ({ home }) => join(home, '.gemini', 'settings.json'),
      project: ({ project }) => join(project, '.gemini', 'settings.json'),
    },
    fields: {},
    entries: ({ command, seconds }) => ({
      BeforeTool: {
        // It asks before every tool: those that only read need nobody.
        matcher: '^(?:run_shell_command|write_file|replace|web_fetch|mcp_.*)$',
        hooks: [{ name: 'svc', type: 'command', command, timeout: seconds * 1000 }],
      },
    }),
    next: 'Restart Gemini CLI; /hooks shows it.',
  },
};
