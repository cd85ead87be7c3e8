import type { CommandContext, Declaration } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { endAgentKey, KEY_ENDS } from '../../mcp/agent-key.ts';
import { edited, setupArgument, setupOf, setupOptions, type Setup } from '../../mcp/setup.ts';
import { removeSkill } from '../../mcp/skill.ts';
import { takeOut } from '../../mcp/take-out.ts';

export const declaration: Declaration = {
  summary: 'Remove svc from an MCP client, and revoke its key.',
  description:
    "Takes the server out of the client's configuration file and leaves the rest alone; a file with nothing else in it goes. Removes the skill that `svc mcp install` wrote. Exit code 3: nothing was installed.",
  args: [setupArgument],
  options: setupOptions,
  examples: ['mcp uninstall cursor', 'mcp uninstall claude-code --scope user'],
  seeAlso: ['mcp install', 'key list'],
};

/** Undoes `svc mcp install`. */
export async function run(context: CommandContext): Promise<number> {
  const { output } = context;
  const setup = setupOf(context);
  const removed = await removeEntry(setup);
  const key = await endAgentKey(context, setup);
  const untaught = setup.skill !== null && (await removeSkill(setup.skill));
  const { file, name, profile } = setup;
  const isNothing = !removed && key === null && !untaught;
  if (output.json) output.answer({ file, name, profile, removed, key, skill_removed: untaught });
  else if (isNothing) output.advise(`${file} doesn't have the server ${name}.`);
  else {
    const gone = removed ? `Removed ${name} from ${file}` : `${file} didn't have ${name}`;
    output.advise(`${gone}; ${key === null ? 'it had no key of its own' : KEY_ENDS[key]}.`);
  }
  return isNothing ? EXIT.nothing : EXIT.done;
}

async function removeEntry(setup: Setup): Promise<boolean> {
  const { servers } = setup.client;
  return takeOut(setup, edited(setup, null), (bare) => bare === `{"${servers}":{}}`);
}
