import type { CommandContext, Declaration } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { requiredText } from '../../input/option-values.ts';
import { exportLedger } from '../../story/export.ts';

export const declaration: Declaration = {
  summary: 'Save the ledger in a file that can be verified without a server.',
  description:
    'Writes one JSON line per entry and checks each. Run it again to continue after an interruption or to add newer entries. The file contains digests, never contents; to prove what was shown and done for one event, use svc story EVENT --out FILE.',
  args: [],
  options: [{ flag: 'out', value: 'FILE', summary: 'Where to save it (required)' }],
  examples: ['ledger export --out ledger.ndjson'],
  seeAlso: ['story', 'ledger verify'],
};

export async function run(context: CommandContext): Promise<number> {
  const path = requiredText(context, 'out', 'For example: --out ledger.ndjson');
  const exported = await context.output.spin('Exporting', exportLedger(context, path));
  context.output.answer(exported);
  return EXIT.done;
}
