import { adminOptions, DATA_OPTIONS } from '../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { becomeGateway } from '../../gateway-process.ts';
import { textOption } from '../../input/option-values.ts';

export const declaration: Declaration = {
  order: 5,
  summary: 'Take in a project that another gateway has exported, after checking all of it.',
  description:
    'Checks every file against the digests of the export, the structure of the database, its ledger up to the head it had, and that this gateway has the master key of its secrets. The project is active at once, also in a gateway that runs: its keys, hooks and links work here. An import that was cut short may be repeated. With --slug it gets another slug, and other mail addresses with it.',
  args: [
    {
      name: 'dir',
      required: true,
      summary: 'The folder that `svc gateway export` made',
      stored: 'paths',
    },
  ],
  options: [
    { flag: 'slug', value: 'SLUG', summary: 'Where another project has its slug' },
    ...DATA_OPTIONS,
  ],
  examples: [
    'gateway import /moves/shop',
    'gateway import ./shop --slug shop-2 --data /var/lib/svc-gateway',
  ],
};

/** `svc gateway import DIR` */
export function run(context: CommandContext): Promise<never> {
  const slug = textOption(context, 'slug');
  const named = slug === undefined ? [] : ['--slug', slug];
  const options = ['import', ...named, ...adminOptions(context)];
  return becomeGateway('gateway/admin', options);
}
