import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readIfThere } from '../../daemon/files.ts';
import { StartRefusal } from '../../shared/host/start-refusal.ts';
import { userFolder } from '../../shared/host/user-folder.ts';
import type { CommandContext, OptionSpec } from '../command.ts';
import { CliError, usageError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { textArgument, textOption } from '../input/option-values.ts';
import { lastingPath, startProblem } from '../program-path.ts';
import {
  commandFields,
  MCP_CLIENT_NAMES,
  MCP_CLIENTS,
  type McpClient,
  type McpClientName,
  type Paths,
  type SetupScope,
} from './clients.ts';
import { EntryEditError, type EntryFields } from './edits.ts';
import { withJsonEntry, withoutJsonEntry } from './json-entry.ts';
import { keyLabel, profileName } from './key-holder.ts';
import { withoutTomlEntry, withTomlEntry } from './toml-entry.ts';
import type { WantedTools } from './tools-path.ts';

/** The argument and options that name an installation. */
export const setupArgument = {
  name: 'client',
  required: true,
  summary: `One of: ${MCP_CLIENT_NAMES.map((name) => `\`${name}\``).join(', ')}.`,
  choices: MCP_CLIENT_NAMES,
} as const;

export const setupOptions: readonly OptionSpec[] = [
  {
    flag: 'scope',
    value: 'SCOPE',
    summary:
      'For this user, or for the project in this folder (default: project for claude-code, else user).',
    choices: ['user', 'project'],
  },
  { flag: 'name', value: 'NAME', summary: "The server's name in the client (default svc)." },
];

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** The environment of a program that the desktop starts. */
const BARE_PATH = '/usr/bin:/bin';

/** One server in one client's configuration. */
export interface Setup {
  readonly clientName: McpClientName;
  readonly client: McpClient;
  readonly name: string;
  readonly scope: SetupScope;
  readonly file: string;
  /** The folders of the user and of the project, which aren't the client's. */
  readonly roots: readonly string[];
  /** Where the client's skill is; null for a client without skills. */
  readonly skill: string | null;
  /** The stored profile with the client's key. */
  readonly profile: string;
  /** What people call the key. */
  readonly label: string;
}

/** The user's folder, and the one of the project that the command runs in. */
export function pathsOf(env: CommandContext['env']): Paths {
  return { home: folderOf(env), project: process.cwd(), env };
}

function folderOf(env: CommandContext['env']): string {
  try {
    return userFolder(env);
  } catch (error) {
    throw error instanceof StartRefusal ? usageError(error.message) : error;
  }
}

export function setupOf(context: CommandContext): Setup {
  const clientName = chosenClient(textArgument(context, 'client'));
  const client = MCP_CLIENTS[clientName];
  const name = textOption(context, 'name') ?? 'svc';
  if (!NAME.test(name)) throw usageError('--name takes 1 to 64 of a-z, A-Z, 0-9, _ and -.');
  const given = textOption(context, 'scope');
  const scope: SetupScope = given === 'user' || given === 'project' ? given : client.scope;
  const { env } = context;
  const paths = pathsOf(env);
  const file = client.file[scope]?.(paths);
  if (file === undefined) {
    throw usageError(`${client.title} has no configuration for a project.`, 'Try: --scope user');
  }
  const skills = client.skills?.[scope](paths);
  const folder = scope === 'project' ? paths.project : null;
  const plain = ['mcp', clientName, ...(name === 'svc' ? [] : [name])].join('-');
  return {
    clientName,
    client,
    name,
    scope,
    file,
    roots: [paths.home, paths.project],
    skill: skills === undefined ? null : join(skills, 'svc', 'SKILL.md'),
    profile: profileName(plain, name, folder),
    label: keyLabel(`mcp: ${clientName}`, folder),
  };
}

function chosenClient(name: string | undefined): McpClientName {
  const known = MCP_CLIENT_NAMES.find((one) => one === name);
  if (known) return known;
  throw usageError(
    name === undefined ? '<client> is missing.' : `Unknown client \`${name}\`.`,
    `One of: ${MCP_CLIENT_NAMES.join(', ')}. For others: svc mcp install cursor --print`,
  );
}

/** The entry of a server that the client starts. It has whole paths: a client that a desktop starts has another PATH. */
export function commandEntry(
  { client, profile }: Setup,
  env: NodeJS.ProcessEnv,
  { tools, readOnly }: WantedTools,
): EntryFields {
  const home = env['SVC_HOME'];
  return commandFields(client, {
    command: lastingPath(process.execPath),
    args: [
      ownScript(),
      'mcp',
      '--profile',
      profile,
      ...(tools === undefined ? [] : ['--tools', tools]),
      ...(readOnly ? ['--read-only'] : []),
    ],
    env: home ? { SVC_HOME: resolve(home) } : {},
  });
}

/** The program that runs now. */
export function ownScript(): string {
  return realpathSync(process.argv[1] ?? '.');
}

/** Starts the program as a client would, without this terminal's environment. Throws CONFIG_REFUSED if that fails. */
export async function checkStart(env: NodeJS.ProcessEnv): Promise<void> {
  const command = [lastingPath(process.execPath), ownScript()];
  const bare = { PATH: BARE_PATH, ...(env['HOME'] && { HOME: env['HOME'] }) };
  const reason = await startProblem(command, bare);
  if (reason === null) return;
  throw new CliError({
    code: 'CONFIG_REFUSED',
    message: `svc changed nothing: ${command.join(' ')} doesn't start without the environment of this terminal. ${reason}`,
    hint: 'Install Node where every program finds it, then repeat this. With --print the command shows the entry.',
    exit: EXIT.refused,
  });
}

/** The client's file before and after a change; `before` is null without a file. Throws CONFIG_REFUSED. */
export function edited(
  { client, file, name }: Setup,
  fields: EntryFields | null,
): { readonly before: string | null; readonly after: string } {
  const before = readIfThere(file);
  const { servers, format } = client;
  const at = { servers, name };
  try {
    return { before, after: changed(before ?? '', at, format, fields) };
  } catch (error) {
    throw unchanged(file, error, 'svc mcp install');
  }
}

/** The error for a file that can't be changed, whose entry the command prints; any other error as it is. */
export function unchanged(file: string, error: unknown, command: string): unknown {
  if (!(error instanceof EntryEditError)) return error;
  return new CliError({
    code: 'CONFIG_REFUSED',
    message: `svc didn't change ${file}. ${error.message}`,
    hint: `Fix the file, or change the entry by hand: ${command} --print shows it.`,
    exit: EXIT.refused,
  });
}

function changed(
  text: string,
  at: { readonly servers: string; readonly name: string },
  format: McpClient['format'],
  fields: EntryFields | null,
): string {
  if (format === 'json') {
    return fields ? withJsonEntry(text, at, fields) : withoutJsonEntry(text, at);
  }
  return fields ? withTomlEntry(text, at, fields) : withoutTomlEntry(text, at);
}

/** Only the entry, for `--print`. */
export function entryText({ client, name }: Setup, fields: EntryFields): string {
  return changed('', { servers: client.servers, name }, client.format, fields).trimEnd();
}
