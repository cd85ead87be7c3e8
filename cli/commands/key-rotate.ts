import { replaceStoredKey } from '../../daemon/credentials.ts';
import { isObject } from '../../shared/untyped.ts';
import type { CommandContext, CommandModule } from '../command.ts';
import { EXIT } from '../exit.ts';
import { callOperation } from '../operation-command.ts';
import type { OperationShape } from '../operation-shape.ts';

/** `key rotate`; when it is the stored key that is rotated, its new secret is stored, so that commands go on. */
export function keyRotate(shape: OperationShape): CommandModule {
  return { run: (context) => rotate(shape, context) };
}

async function rotate(shape: OperationShape, context: CommandContext): Promise<number> {
  const client = context.client();
  const own = await client.call('GET', '/v1/whoami', { signal: context.signal });
  const answer = await callOperation(shape, context);
  // Stored before it is shown: the old secret may be worth nothing by now.
  const secret = isObject(answer) ? answer['api_key'] : undefined;
  const isOwn =
    isObject(own) && isObject(own['key']) && own['key']['id'] === context.args['key_id'];
  if (isOwn && typeof secret === 'string') {
    const { credentialsFile } = context.home;
    const stored = replaceStoredKey(credentialsFile, client.apiKey, secret);
    if (stored) context.output.note(`The new secret is stored in ${credentialsFile}.`);
  }
  context.output.answer(answer);
  return EXIT.done;
}
