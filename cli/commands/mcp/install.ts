import { accessSync, constants, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { readIfThere } from '../../../daemon/files.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { CliError, usageError } from '../../errors.ts';
import {
  EntryRefused,
  entryText,
  withJsonEntry,
  withTomlEntry,
  type ServerEntry,
} from '../../mcp/client-entry.ts';
import { switchOption, textArgument, textOption } from '../../input/option-values.ts';
import { replaceFile } from '../../mcp/replace-file.ts';

/** The clients that `svc mcp install` can set up. */
export const MCP_CLIENT_NAMES = ['claude-code', 'codex', 'cursor'] as const;

export const declaration: Declaration = {
  summary: 'Set up an MCP client to use svc.',
  description:
    "Adds the server to the client's configuration file and leaves the rest alone. Running it again changes nothing.",
  args: [
    {
      name: 'client',
      required: true,
      summary: '`claude-code`, `codex` or `cursor`.',
      choices: MCP_CLIENT_NAMES,
    },
  ],
  options: [
    {
      flag: 'scope',
      value: 'SCOPE',
      summary:
        'For this user, or for the project in this folder (default: project for claude-code, else user).',
      choices: ['user', 'project'],
    },
    { flag: 'name', value: 'NAME', summary: "The server's name in the client (default svc)." },
    { flag: 'print', summary: 'Print the entry without writing it.' },
  ],
  examples: [
    'mcp install claude-code',
    'mcp install codex --scope project',
    'mcp install cursor --print',
  ],
  seeAlso: ['mcp', 'help agents'],
};

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const PRIVATE_MODE = 0o600;
const SHARED_MODE = 0o644;

type Scope = 'user' | 'project';

interface Paths {
  readonly home: string;
  readonly project: string;
  readonly env: NodeJS.ProcessEnv;
}

interface McpClient {
  readonly format: 'json' | 'toml';
  readonly scope: Scope;
  readonly file: Readonly<Record<Scope, (paths: Paths) => string>>;
  /** What the user still has to do. */
  readonly next: Readonly<Record<Scope, string>>;
}

const CLIENTS: Readonly<Record<(typeof MCP_CLIENT_NAMES)[number], McpClient>> = {
  'claude-code': {
    format: 'json',
    scope: 'project',
    file: {
      user: ({ home, env }) => join(env['CLAUDE_CONFIG_DIR'] || home, '.claude.json'),
      project: ({ project }) => join(project, '.mcp.json'),
    },
    next: {
      user: 'Restart Claude Code; /mcp shows the server.',
      project: 'Start Claude Code in this folder and approve the server; /mcp shows it.',
    },
  },
  codex: {
    format: 'toml',
    scope: 'user',
    file: {
      user: ({ home, env }) => join(env['CODEX_HOME'] || join(home, '.codex'), 'config.toml'),
      project: ({ project }) => join(project, '.codex', 'config.toml'),
    },
    next: {
      user: 'Restart Codex; /mcp shows the server.',
      project: 'Codex reads this file in folders it trusts; /mcp shows the server.',
    },
  },
  cursor: {
    format: 'json',
    scope: 'user',
    file: {
      user: ({ home }) => join(home, '.cursor', 'mcp.json'),
      project: ({ project }) => join(project, '.cursor', 'mcp.json'),
    },
    next: {
      user: 'Restart Cursor and turn the server on in its settings.',
      project: 'Restart Cursor and turn the server on in its settings.',
    },
  },
};

/** Writes the server into an MCP client's configuration. */
export async function run(context: CommandContext): Promise<number> {
  const { env, output } = context;
  const client = chosenClient(textArgument(context, 'client'));
  const name = textOption(context, 'name') ?? 'svc';
  if (!NAME.test(name)) throw usageError('--name takes 1 to 64 of a-z, A-Z, 0-9, _ and -.');
  const given = textOption(context, 'scope');
  const scope: Scope = given === 'user' || given === 'project' ? given : client.scope;
  const paths = { home: env['HOME'] || homedir(), project: process.cwd(), env };
  const file = client.file[scope](paths);
  const entry = serverEntry(env);
  const shown = entryText(client.format, name, entry);
  const print = switchOption(context, 'print');
  const changed = print ? false : await install(file, { client, name, scope, entry });
  if (output.json) {
    output.answer({ file, scope, name, changed, ...entry });
    return EXIT.done;
  }
  if (!print) output.note(changed ? `Written to ${file}:` : `Already in ${file}:`);
  output.line(shown);
  if (print) output.note(`Add it to ${file}`);
  else explain(context, { next: client.next[scope], scope, entry });
  return EXIT.done;
}

function chosenClient(name: string | undefined): McpClient {
  const known = MCP_CLIENT_NAMES.find((one) => one === name);
  if (known) return CLIENTS[known];
  throw usageError(
    name === undefined ? '<client> is missing.' : `Unknown client \`${name}\`.`,
    `One of: ${MCP_CLIENT_NAMES.join(', ')}. For others: svc mcp install cursor --print`,
  );
}

interface Installation {
  readonly client: McpClient;
  readonly name: string;
  readonly scope: Scope;
  readonly entry: ServerEntry;
}

/** Returns false if the file already has the entry. */
async function install(
  file: string,
  { client, name, scope, entry }: Installation,
): Promise<boolean> {
  const before = readIfThere(file);
  const edit = client.format === 'json' ? withJsonEntry : withTomlEntry;
  let after: string;
  try {
    after = edit(before ?? '', name, entry);
  } catch (error) {
    if (!(error instanceof EntryRefused)) throw error;
    throw new CliError({
      code: 'CONFIG_REFUSED',
      message: `svc didn't change ${file}. ${error.message}`,
      hint: 'Fix the file, or add the entry by hand: --print shows it.',
      exit: EXIT.refused,
    });
  }
  if (after === before) return false;
  await replaceFile(file, after, scope === 'user' ? PRIVATE_MODE : SHARED_MODE);
  return true;
}

function explain(
  { output }: CommandContext,
  { next, scope, entry }: { next: string; scope: Scope; entry: ServerEntry },
): void {
  const isLocal = entry.command !== 'svc' || Object.keys(entry.env).length > 0;
  if (scope === 'project' && isLocal) {
    output.note('The entry has paths of this machine, so keep the file out of version control.');
  }
  output.note(next);
}

/** Uses `svc mcp`, or this program's own path if `svc` isn't on PATH or is another program. */
function serverEntry(env: NodeJS.ProcessEnv): ServerEntry {
  const script = realpathSync(process.argv[1] ?? '.');
  const known = programOnPath('svc', env) === script;
  const home = env['SVC_HOME'];
  return {
    command: known ? 'svc' : process.execPath,
    args: known ? ['mcp'] : [script, 'mcp'],
    env: home ? { SVC_HOME: resolve(home) } : {},
  };
}

function programOnPath(name: string, env: NodeJS.ProcessEnv): string | null {
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    // npx and npm add their own folder to PATH only while they run; a client started later won't have it.
    if (folder === '' || folder.endsWith(join('node_modules', '.bin'))) continue;
    try {
      const path = join(folder, name);
      accessSync(path, constants.X_OK);
      return realpathSync(path);
    } catch {
      // Not in this folder.
    }
  }
  return null;
}
