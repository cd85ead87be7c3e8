import type { CommandContext } from '../command.ts';
import { usageView } from '../disk/usage-view.ts';
import { EXIT } from '../exit.ts';

/** `svc usage`: how much of its limits the project takes. */
export async function run({ client, output, signal }: CommandContext): Promise<number> {
  const answer = await client().call('GET', '/v1/usage', { signal });
  output.answer(answer, usageView(answer));
  return EXIT.done;
}
