import type { CommandContext, Declaration } from '../command.ts';
import { usageView } from '../disk/usage-view.ts';
import { EXIT } from '../exit.ts';

export const declaration: Declaration = {
  summary: 'Show how much of its limits the project takes.',
  description: 'The disk with keys, files and open uploads, and what links have sent this month.',
  args: [],
  options: [],
  examples: ['usage', 'usage --json | jq .disk.used_bytes'],
  seeAlso: ['file list', 'kv list'],
};

/** `svc usage`: how much of its limits the project takes. */
export async function run({ client, output, signal }: CommandContext): Promise<number> {
  const answer = await client().call('GET', '/v1/usage', { signal });
  output.answer(answer, usageView(answer));
  return EXIT.done;
}
