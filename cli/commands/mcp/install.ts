import { readRecord } from '../../../daemon/record.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { usageError } from '../../errors.ts';
import { EXIT } from '../../exit.ts';
import { listOption, switchOption, textOption } from '../../input/option-values.ts';
import { listOf } from '../../input/values.ts';
import { agentKey, typedScopes, type AgentKey } from '../../mcp/agent-key.ts';
import type { EntryFields } from '../../mcp/edits.ts';
import { replaceFile } from '../../mcp/replace-file.ts';
import {
  checkStart,
  commandEntry,
  edited,
  entryText,
  setupArgument,
  setupOf,
  setupOptions,
  type Setup,
} from '../../mcp/setup.ts';
import { toolsPath, type WantedTools } from '../../mcp/tools-path.ts';
import { writeSkill } from '../../mcp/skill.ts';
import { addressText } from '../../signin/gateway-address.ts';
import { ensureDaemon } from '../up.ts';

export const declaration: Declaration = {
  summary: 'Set up an MCP client to use svc.',
  description:
    "Creates an API key for this client alone, stores it as a profile, adds the server to the client's configuration file and leaves the rest alone. Running it again changes nothing. Clients that take skills also get SKILL.md.",
  args: [setupArgument],
  options: [
    ...setupOptions,
    {
      flag: 'scopes',
      value: 'SCOPES',
      summary:
        "The key's scopes, with commas (default inbox:read,inbox:write,approvals,disk,send).",
    },
    {
      flag: 'disk-prefix',
      value: 'PREFIX',
      repeatable: true,
      summary: 'Limit the key to keys, task ids and file paths that start with this.',
    },
    {
      flag: 'read-only',
      summary:
        'Offer only tools that change nothing, and give the key ledger:read,inbox:read,disk:read.',
    },
    {
      flag: 'tools',
      value: 'A,B,…',
      summary: 'Offer only these tools or toolsets, as in svc mcp.',
    },
    {
      flag: 'http',
      summary:
        "Write the server's URL and the key instead of a command; sets the file's mode to 600.",
    },
    { flag: 'no-skill', summary: "Don't install SKILL.md." },
    { flag: 'print', summary: 'Print the entry without writing it.' },
  ],
  examples: [
    'mcp install claude-code',
    'mcp install codex --scope project',
    'mcp install cursor --scopes inbox:read,disk',
    'mcp install cursor --scopes disk --disk-prefix team-a/',
    'mcp install gemini --tools inbox,ask',
    'mcp install vscode --http',
    'mcp install cursor --print',
  ],
  seeAlso: ['mcp uninstall', 'mcp', 'help agents'],
};

const PRIVATE_MODE = 0o600;
const SHARED_MODE = 0o644;
/** Stands for the key wherever it's shown. */
const SHOWN_KEY = 'svc_live_…';
const LOCAL_URL = 'http://127.0.0.1:4780';

/** Writes the server into an MCP client's configuration, with a key of the client's own. */
export async function run(context: CommandContext): Promise<number> {
  const { env } = context;
  const setup = setupOf(context);
  const scopes = typedScopes(textOption(context, 'scopes'));
  const diskPrefixes = typedPrefixes(context);
  const isHttp = checkedHttp(context, setup);
  const readOnly = switchOption(context, 'read-only');
  const wanted = { tools: typedTools(context), readOnly };
  const fieldsWith = (apiKey: string): EntryFields =>
    isHttp ? httpEntry(context, setup, { apiKey, wanted }) : commandEntry(setup, env, wanted);
  if (switchOption(context, 'print')) return print(context, setup, fieldsWith(SHOWN_KEY));
  // A file that can't be changed shouldn't cost a key.
  edited(setup, fieldsWith(SHOWN_KEY));
  if (!isHttp) await checkStart(env);
  if (!env['SVC_GATEWAY']) await ensureDaemon(context);
  const key = await agentKey(context, setup, { scopes, diskPrefixes, readOnly });
  const changed = await write(setup, fieldsWith(key.apiKey), isHttp);
  const skill = switchOption(context, 'no-skill') ? null : setup.skill;
  const taught = skill !== null && (await writeSkill(skill));
  tell(context, setup, { fields: fieldsWith(SHOWN_KEY), changed, key, skill, taught });
  return EXIT.done;
}

function checkedHttp(context: CommandContext, { client, scope }: Setup): boolean {
  if (!switchOption(context, 'http')) return false;
  if (!client.http) {
    throw usageError(`${client.title}'s file can only have commands.`, 'Leave out --http.');
  }
  if (scope === 'project') {
    throw usageError(
      "With --http the key would be in the project's file.",
      'Leave out --http, or use: --scope user',
    );
  }
  return true;
}

const TOOLS = /^[a-z_]+(?:,[a-z_]+)*$/;

/** The server knows the names; here only their form matters. */
function typedTools(context: CommandContext): string | undefined {
  const tools = textOption(context, 'tools')?.replaceAll(/\s/g, '');
  if (tools === undefined || TOOLS.test(tools)) return tools;
  throw usageError('--tools takes names with commas between them.', 'Try: --tools inbox,ask');
}

function typedPrefixes(context: CommandContext): readonly string[] | null {
  const given = listOption(context, 'disk-prefix');
  const prefixes = listOf(given);
  if (given.length > 0 && prefixes.length === 0) {
    throw usageError('--disk-prefix is empty.', 'Try: --disk-prefix team-a/');
  }
  return prefixes.length === 0 ? null : [...new Set(prefixes)];
}

function httpEntry(
  context: CommandContext,
  { client }: Setup,
  { apiKey, wanted }: { readonly apiKey: string; readonly wanted: WantedTools },
): EntryFields {
  const { gateway } = context.client();
  const base = gateway ? addressText(gateway) : readRecord(context.home.daemonFile)?.base_url;
  const headers = { Authorization: `Bearer ${apiKey}` };
  return client.http?.(`${base ?? LOCAL_URL}${toolsPath(wanted)}`, headers) ?? {};
}

function print({ output }: CommandContext, setup: Setup, fields: EntryFields): number {
  const { file, scope, name, profile } = setup;
  if (output.json) {
    output.answer({ file, scope, name, profile, changed: false, ...fields });
  } else {
    output.line(entryText(setup, fields));
    output.note(`Add it to ${file}, for ${WHOSE[scope]}.`);
    output.note(otherScope(setup));
  }
  return EXIT.done;
}

/** Returns false if the file already has the entry. */
async function write(setup: Setup, fields: EntryFields, isSecret: boolean): Promise<boolean> {
  const { before, after } = edited(setup, fields);
  if (after === before) return false;
  const newMode = setup.scope === 'user' ? PRIVATE_MODE : SHARED_MODE;
  await replaceFile(setup.file, after, { newMode, isPrivate: isSecret });
  return true;
}

const WHOSE = { user: 'you, in every folder', project: 'the project in this folder' } as const;

/** How to have the entry elsewhere instead. */
function otherScope({ client, clientName, scope, name }: Setup): string {
  if (!client.file.project) return `${client.title} has no files for a project.`;
  const other = scope === 'project' ? 'user' : 'project';
  const named = name === 'svc' ? '' : ` --name ${name}`;
  const from = other === 'project' ? "in the project's folder, " : '';
  return `For ${OTHERS[other]} instead: ${from}svc mcp install ${clientName} --scope ${other}${named}`;
}

const OTHERS = { user: 'every folder', project: 'one project' } as const;

interface InstallResult {
  readonly fields: EntryFields;
  readonly changed: boolean;
  readonly key: AgentKey;
  readonly skill: string | null;
  /** The skill was written now. */
  readonly taught: boolean;
}

function tell(
  { output }: CommandContext,
  setup: Setup,
  { fields, changed, key, skill, taught }: InstallResult,
): void {
  const { file, scope, name, profile, client } = setup;
  const { scopes, diskPrefixes } = key;
  if (output.json) {
    const about = { file, scope, name, profile, changed, key_created: key.isNew };
    output.answer({ ...about, scopes, disk_prefixes: diskPrefixes, skill, ...fields });
    return;
  }
  output.note(`${changed ? 'Written to' : 'Already in'} ${file}, for ${WHOSE[scope]}:`);
  output.line(entryText(setup, fields));
  const only = diskPrefixes ? `; on the disk only ${diskPrefixes.join(', ')}` : '';
  output.note(
    `Its own key ${key.isNew ? 'is' : 'was already'} in the profile ${profile}: ${scopes.join(', ')}${only}`,
  );
  if (skill !== null) output.note(`Skill ${taught ? 'written to' : 'in'} ${skill}`);
  if (scope === 'project') {
    output.note('The entry works only on this machine, so keep the file out of version control.');
  }
  if (JSON.stringify(fields).includes('/_npx/')) {
    output.note("The entry starts svc from npx's cache. After that is cleared, run this again.");
  }
  output.note(otherScope(setup));
  output.note(`Next: ${client.next[scope] ?? client.next.user}`);
}
