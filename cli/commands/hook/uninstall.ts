import type { CommandContext, Declaration } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { hookArgument } from '../../hooks/options.ts';
import { editedHooks, hookSetupOf } from '../../hooks/setup.ts';
import { endAgentKey, KEY_ENDS } from '../../mcp/agent-key.ts';
import { takeOut } from '../../mcp/take-out.ts';
import { PROJECT_OPTION } from './install.ts';

export const declaration: Declaration = {
  summary: 'Take the hook out of a coding agent, and revoke its key.',
  description:
    "Takes out what `svc hook install` put into the client's settings file and leaves the rest alone; a file with nothing else in it goes. Open questions stay open. Exit code 3: nothing was installed.",
  args: [hookArgument],
  options: [PROJECT_OPTION],
  examples: ['hook uninstall claude-code', 'hook uninstall cursor --project'],
  seeAlso: ['hook install', 'key list'],
};

/** Undoes `svc hook install`. */
export async function run(context: CommandContext): Promise<number> {
  const { output } = context;
  const setup = hookSetupOf(context);
  const { file, profile, client } = setup;
  const bare = JSON.stringify(client.fields);
  const removed = await takeOut(setup, editedHooks(setup, 'remove'), (text) => text === bare);
  const key = await endAgentKey(context, setup);
  const isNothing = !removed && key === null;
  if (output.json) output.answer({ file, profile, removed, key });
  else if (isNothing) output.advise(`${file} doesn't have the hook.`);
  else {
    const gone = removed ? `Removed the hook from ${file}` : `${file} didn't have the hook`;
    output.advise(`${gone}; ${key === null ? 'it had no key of its own' : KEY_ENDS[key]}.`);
  }
  return isNothing ? EXIT.nothing : EXIT.done;
}
