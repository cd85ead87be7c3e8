import type { CommandContext, Declaration } from '../../command.ts';
import { runningProject } from '../../../clients/typescript/node/connection.ts';
import { textArgument } from '../../input/option-values.ts';
import { tellOverrides } from '../../signin/next-steps.ts';
import { useProfile } from '../../signin/profiles.ts';

export const declaration: Declaration = {
  order: 2,
  summary: 'Switch to another profile.',
  description:
    'Commands use its key from then on, and svc up starts the daemon for its project. For a single command, use --profile.',
  args: [{ name: 'name', required: true, summary: "The profile's name", stored: 'profiles' }],
  options: [],
  examples: ['project use shop', 'project use default'],
};

/** `svc project use`: later commands go to this project. */
export function run(context: CommandContext): Promise<void> {
  const { home, output } = context;
  const name = textArgument(context, 'name') ?? '';
  const { gateway, project, slug, name: title } = useProfile(home.credentialsFile, name);
  tellOverrides(context);
  const running = runningProject(home.daemonFile);
  if (output.json) {
    output.answer({
      profile: name,
      project: { id: project, slug: slug ?? null, name: title ?? null },
      gateway,
      daemon_runs_for: running,
    });
  } else output.advise(`Commands now use the profile ${name} (${gateway ?? 'this machine'}).`);
  if (running !== null && running !== project) {
    output.note('The daemon runs for another project. To switch it to this one: svc up');
  }
  return Promise.resolve();
}
