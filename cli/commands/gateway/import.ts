import { adminOptions, DATA_OPTIONS } from '../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { becomeGateway } from '../../gateway-process.ts';
import { textOption } from '../../input/option-values.ts';

export const declaration: Declaration = {
  order: 5,
  summary: 'Import a project exported by another gateway, after checking all of it.',
  description:
    "Checks every file against the export's digests, the database structure, the ledger up to its recorded head, and that this gateway's master key opens the secrets. The project is active right away, even in a running gateway: its keys, hooks and links work here. If an import is interrupted, run it again. With --slug the project gets a new slug, and new mail addresses with it.",
  args: [
    {
      name: 'dir',
      required: true,
      summary: 'A folder created by `svc gateway export`',
      stored: 'paths',
    },
  ],
  options: [
    { flag: 'slug', value: 'SLUG', summary: 'A new slug, if another project already has this one' },
    ...DATA_OPTIONS,
  ],
  examples: [
    'gateway import /moves/shop',
    'gateway import ./shop --slug shop-2 --data /var/lib/svc-gateway',
  ],
};

export function run(context: CommandContext): Promise<never> {
  const slug = textOption(context, 'slug');
  const named = slug === undefined ? [] : ['--slug', slug];
  const options = ['import', ...named, ...adminOptions(context)];
  return becomeGateway('gateway/admin', options);
}
