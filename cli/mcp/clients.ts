import { join } from 'node:path';
import type { EntryFields } from './edits.ts';

/** The clients that `svc mcp install` can set up. */
export const MCP_CLIENT_NAMES = [
  'claude-code',
  'claude-desktop',
  'codex',
  'cursor',
  'gemini',
  'vscode',
  'windsurf',
] as const;

export type McpClientName = (typeof MCP_CLIENT_NAMES)[number];

/** Where an entry applies: everywhere for this user, or in one folder. */
export type SetupScope = 'user' | 'project';

export interface Paths {
  readonly home: string;
  readonly project: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A server that the client starts as a command. */
interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

type PathOf = (paths: Paths) => string;

export interface McpClient {
  readonly title: string;
  readonly format: 'json' | 'toml';
  /** The object or table that lists servers. */
  readonly servers: string;
  readonly scope: SetupScope;
  /** Its configuration; a client without `project` has one for the user only. */
  readonly file: { readonly user: PathOf; readonly project?: PathOf };
  /** The client wants `type` in an entry. */
  readonly typed: boolean;
  /** The entry of a server that the client reaches over HTTP; null if its file can't have one. */
  readonly http: ((url: string, headers: Readonly<Record<string, string>>) => EntryFields) | null;
  /** The folder in which it looks for skills. */
  readonly skills: { readonly user: PathOf; readonly project: PathOf } | null;
  /** What the user still has to do; `project` if it differs there. */
  readonly next: { readonly user: string; readonly project?: string };
}

/** The folder in which desktop programs keep their settings. */
function settings({ home, env }: Paths): string {
  if (process.platform === 'darwin') return join(home, 'Library', 'Application Support');
  return env['XDG_CONFIG_HOME'] || join(home, '.config');
}

function inFolders(folder: string): NonNullable<McpClient['skills']> {
  return {
    user: ({ home }) => join(home, folder, 'skills'),
    project: ({ project }) => join(project, folder, 'skills'),
  };
}

const JSON_CLIENT = { format: 'json', servers: 'mcpServers', scope: 'user' } as const;

export const MCP_CLIENTS: Readonly<Record<McpClientName, McpClient>> = {
  'claude-code': {
    ...JSON_CLIENT,
    title: 'Claude Code',
    scope: 'project',
    file: {
      user: ({ home, env }) => join(env['CLAUDE_CONFIG_DIR'] || home, '.claude.json'),
      project: ({ project }) => join(project, '.mcp.json'),
    },
    typed: true,
    http: (url, headers) => ({ type: 'http', url, headers }),
    skills: {
      ...inFolders('.claude'),
      user: ({ home, env }) => join(env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'), 'skills'),
    },
    next: {
      user: 'Restart Claude Code; /mcp shows the server.',
      project: 'Start Claude Code in this folder and approve the server; /mcp shows it.',
    },
  },
  'claude-desktop': {
    ...JSON_CLIENT,
    title: 'Claude Desktop',
    file: { user: (paths) => join(settings(paths), 'Claude', 'claude_desktop_config.json') },
    typed: false,
    http: null,
    skills: null,
    next: { user: 'Quit and restart Claude Desktop; Settings > Developer shows the server.' },
  },
  codex: {
    title: 'Codex',
    format: 'toml',
    servers: 'mcp_servers',
    scope: 'user',
    file: {
      user: ({ home, env }) => join(env['CODEX_HOME'] || join(home, '.codex'), 'config.toml'),
      project: ({ project }) => join(project, '.codex', 'config.toml'),
    },
    typed: false,
    http: (url, headers) => ({ url, http_headers: headers }),
    skills: inFolders('.agents'),
    next: {
      user: 'Restart Codex; /mcp shows the server.',
      project: 'Start Codex in this folder and trust it; /mcp shows the server.',
    },
  },
  cursor: {
    ...JSON_CLIENT,
    title: 'Cursor',
    file: {
      user: ({ home }) => join(home, '.cursor', 'mcp.json'),
      project: ({ project }) => join(project, '.cursor', 'mcp.json'),
    },
    typed: true,
    http: (url, headers) => ({ url, headers }),
    skills: inFolders('.cursor'),
    next: { user: 'Restart Cursor and turn the server on in its settings.' },
  },
  gemini: {
    ...JSON_CLIENT,
    title: 'Gemini CLI',
    file: {
      user: ({ home }) => join(home, '.gemini', 'settings.json'),
      project: ({ project }) => join(project, '.gemini', 'settings.json'),
    },
    typed: false,
    http: (url, headers) => ({ httpUrl: url, headers }),
    skills: inFolders('.gemini'),
    next: {
      user: 'Restart Gemini CLI in a folder that it trusts; /mcp shows the server.',
      project: 'Start Gemini CLI in this folder and trust it; /mcp shows the server.',
    },
  },
  vscode: {
    ...JSON_CLIENT,
    title: 'VS Code',
    servers: 'servers',
    file: {
      user: (paths) => join(settings(paths), 'Code', 'User', 'mcp.json'),
      project: ({ project }) => join(project, '.vscode', 'mcp.json'),
    },
    typed: true,
    http: (url, headers) => ({ type: 'http', url, headers }),
    skills: {
      user: ({ home }) => join(home, '.copilot', 'skills'),
      project: ({ project }) => join(project, '.github', 'skills'),
    },
    next: { user: 'In VS Code, run "MCP: List Servers" and start the server.' },
  },
  windsurf: {
    ...JSON_CLIENT,
    title: 'Windsurf',
    file: { user: ({ home }) => join(home, '.codeium', 'windsurf', 'mcp_config.json') },
    typed: false,
    http: (url, headers) => ({ serverUrl: url, headers }),
    skills: null,
    next: { user: 'In Windsurf, open the MCP servers of Cascade and refresh.' },
  },
};

/** The entry of a server that the client starts as a command. */
export function commandFields({ typed }: McpClient, { command, args, env }: Command): EntryFields {
  return {
    ...(typed && { type: 'stdio' }),
    command,
    args,
    ...(Object.keys(env).length > 0 && { env }),
  };
}
