import type { CommandContext, Declaration } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { editedHooks, hookSetupOf, hooksText, type HookSetup } from '../../hooks/setup.ts';
import { HOOK_RIGHTS } from '../../hooks/key.ts';
import { hookArgument, WAIT_OPTION } from '../../hooks/options.ts';
import { switchOption } from '../../input/option-values.ts';
import { agentKey, type AgentKey } from '../../mcp/agent-key.ts';
import { replaceFile } from '../../mcp/replace-file.ts';
import { checkStart } from '../../mcp/setup.ts';
import { ensureDaemon } from '../up.ts';

export const PROJECT_OPTION = {
  flag: 'project',
  summary: 'For the project in this folder (default: for you, in every folder).',
} as const;

export const declaration: Declaration = {
  summary: "Let your people answer a coding agent's permission prompts.",
  description:
    "Adds a hook to the client's own settings file and leaves the rest alone. Before the agent uses a tool that needs permission, the policy decides, or else your people do, on the page of a mail, in Telegram or in the web inbox. Creates an API key for the hook alone, with the scope approvals, and stores it as a profile. Running it again changes nothing.",
  args: [hookArgument],
  options: [
    PROJECT_OPTION,
    WAIT_OPTION,
    { flag: 'print', summary: 'Print the entry without writing it.' },
  ],
  examples: [
    'hook install claude-code',
    'hook install codex --wait 2m',
    'hook install cursor --project',
    'hook install gemini --print',
  ],
  seeAlso: ['hook uninstall', 'hook run', 'mcp install', 'policy set'],
};

const PRIVATE_MODE = 0o600;
const SHARED_MODE = 0o644;

/** Writes the hook into a client's settings, with a key of its own. */
export async function run(context: CommandContext): Promise<number> {
  const setup = hookSetupOf(context);
  // A file that can't be changed shouldn't cost a key.
  const { before, after } = editedHooks(setup, 'add');
  if (switchOption(context, 'print')) return print(context, setup);
  await checkStart(context.env);
  if (!context.env['SVC_GATEWAY']) await ensureDaemon(context);
  const key = await agentKey(context, setup, HOOK_RIGHTS);
  const changed = after !== before;
  if (changed) {
    const newMode = setup.scope === 'user' ? PRIVATE_MODE : SHARED_MODE;
    await replaceFile(setup.file, after, { newMode });
  }
  tell(context, setup, { changed, key });
  return EXIT.done;
}

function print({ output }: CommandContext, setup: HookSetup): number {
  const { file, scope, profile, entries } = setup;
  if (output.json) {
    output.answer({ file, scope, profile, changed: false, hooks: entries });
  } else {
    output.line(hooksText(setup));
    output.note(`Add it to ${file}, for ${WHOSE[scope]}.`);
  }
  return EXIT.done;
}

const WHOSE = { user: 'you, in every folder', project: 'the project in this folder' } as const;

function tell(
  { output }: CommandContext,
  setup: HookSetup,
  { changed, key }: { readonly changed: boolean; readonly key: AgentKey },
): void {
  const { file, scope, profile, entries, client } = setup;
  if (output.json) {
    const about = { file, scope, profile, changed, key_created: key.isNew };
    output.answer({ ...about, scopes: key.scopes, hooks: entries });
    return;
  }
  output.note(`${changed ? 'Written to' : 'Already in'} ${file}, for ${WHOSE[scope]}:`);
  output.line(hooksText(setup));
  output.note(
    `Its own key ${key.isNew ? 'is' : 'was already'} in the profile ${profile}: ${key.scopes.join(', ')}`,
  );
  if (scope === 'project') {
    output.note('The entry works only on this machine, so keep the file out of version control.');
  }
  output.note(`Next: ${client.next}`);
}
