import type { CommandContext, Declaration } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { WATCH_OPTION } from '../../input/flags.ts';
import { switchOption } from '../../input/option-values.ts';
import { storedProfiles } from '../../signin/profiles.ts';
import { table } from '../../view/table.ts';

export const declaration: Declaration = {
  order: 1,
  summary: 'List the projects this machine has keys for.',
  description: 'Lists them by profile; * marks the current one. Exit code 3: no projects.',
  args: [],
  options: [{ flag: 'names', summary: 'Print profile names only, one per line' }, WATCH_OPTION],
  examples: ['project list', "project list --json | jq -r '.items[].project.id'"],
};

const COLUMNS = ['current', 'profile', 'name', 'slug', 'gateway'];

/** `svc project list`: lists the stored profiles without any call. Exit code 3 if there are none. */
export function run(context: CommandContext): Promise<number> {
  const { home, output } = context;
  const { current, profiles } = storedProfiles(home.credentialsFile);
  const own = Object.entries(profiles).filter(([, { client }]) => client === undefined);
  const items = own.map(([profile, { gateway, project, slug, name }]) => ({
    profile,
    current: profile === current,
    gateway,
    project: { id: project, slug: slug ?? null, name: name ?? null },
  }));
  if (switchOption(context, 'names')) {
    for (const { profile } of items) output.line(profile);
  } else {
    const rows = items.map(({ profile, current: isCurrent, gateway, project }) => ({
      current: isCurrent ? '*' : ' ',
      profile,
      name: project.name,
      // Profiles stored by hand or in local mode have only an id.
      slug: project.slug ?? project.id,
      gateway: gateway ?? 'this machine',
    }));
    const none = 'No projects yet. Start with: svc up, or svc login --gateway URL';
    output.answer(
      { items, next_cursor: null },
      { lines: (look) => (rows.length > 0 ? table(rows, COLUMNS, look) : [none]) },
    );
  }
  return Promise.resolve(items.length > 0 ? EXIT.done : EXIT.nothing);
}
