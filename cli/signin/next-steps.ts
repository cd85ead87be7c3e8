import { runningProject } from '../../clients/typescript/node/connection.ts';
import type { CommandContext } from '../command.ts';
import type { SignedIn } from './signed-in.ts';

/** Says what was stored and what comes next; with JSON it prints the answer. Neither contains the key. */
export function tellSignedIn(context: CommandContext, { email, ...signedIn }: SignedIn): void {
  const { output } = context;
  const { profile, project, gateway } = signedIn;
  tellOverrides(context);
  if (output.json) {
    output.answer(signedIn);
    return;
  }
  const running = runningProject(context.home.daemonFile);
  const isOther = running !== null && running !== project.id;
  const lines = [
    `Signed in to ${project.name} (${project.slug}) at ${gateway}${email === null ? '' : ` as ${email}`}.`,
    `Stored the key as profile ${profile}. Commands now use it.`,
    '',
    'Next:',
    `  svc up      ${isOther ? 'switch the daemon from its current project to this one' : 'keep a replica of the project on this machine'}`,
    '  svc status  check the daemon and the replica',
  ];
  for (const line of lines) output.advise(line);
}

/** Warns that the environment overrides the chosen profile, which would be confusing otherwise. */
export function tellOverrides({ env, output }: Pick<CommandContext, 'env' | 'output'>): void {
  const set = ['SVC_API_KEY', 'SVC_GATEWAY'].filter((name) => env[name]);
  if (set.length > 0) output.note(`These variables override every profile: ${set.join(', ')}.`);
}
