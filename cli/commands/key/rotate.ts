import { replaceStoredKey } from '../../../daemon/credentials.ts';
import type { CommandContext } from '../../command.ts';
import { CliError } from '../../errors.ts';
import { EXIT } from '../../exit.ts';
import { callOperation } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';

/** `svc key rotate`: after rotating the stored key, stores its new secret so that commands keep working. */
export async function run(
  context: CommandContext,
  shape: OperationShape<'key_rotate'>,
): Promise<number> {
  const client = context.client();
  const own = await client.call('whoami', {}, { signal: context.signal });
  const answer = await callOperation(shape, context);
  context.output.answer(answer);
  if (own.key.id === context.args['key_id']) store(context, client.apiKey, answer.api_key);
  return EXIT.done;
}

function store({ home, output }: CommandContext, oldKey: string, newKey: string): void {
  const { credentialsFile } = home;
  try {
    const stored = replaceStoredKey(credentialsFile, oldKey, newKey);
    if (stored) output.note(`Stored the new secret in ${credentialsFile}.`);
  } catch (error) {
    const message = `svc couldn't store the new secret in ${credentialsFile}. Keep the one shown above.`;
    const hint = error instanceof Error ? error.message : null;
    throw new CliError({ code: 'NOT_STORED', message, hint, exit: EXIT.refused });
  }
}
