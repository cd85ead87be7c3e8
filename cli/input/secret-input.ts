import type { CommandContext } from '../command.ts';
import { usageError } from '../errors.ts';
import { textOption } from './option-values.ts';
import { bytesOf, type StandardInput } from './values.ts';
import { HEADER_SIGNERS, type Verification } from '../../shared/senders/registry.ts';

/**
 * The secret from `--secret`, otherwise from SVC_WEBHOOK_SECRET, or null. Other users can read arguments, so `@file`,
 * `-` and the variable keep it private. A file's final newline isn't part of the secret.
 */
export async function secretInput(
  context: CommandContext,
  stdin: StandardInput,
): Promise<string | null> {
  const given = textOption(context, 'secret');
  if (given === undefined) return context.env['SVC_WEBHOOK_SECRET'] || null;
  const text = (await bytesOf(given, '--secret', stdin)).toString('utf8');
  return text.replace(/\r?\n$/, '');
}

/** The scheme from `--scheme`. */
export function schemeInput(context: CommandContext): Verification {
  const text = textOption(context, 'scheme');
  const scheme = HEADER_SIGNERS.find((name) => name === text);
  if (scheme) return scheme;
  throw usageError('--scheme is missing.', `One of: ${HEADER_SIGNERS.join(', ')}.`);
}
