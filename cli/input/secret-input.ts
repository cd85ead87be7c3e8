import type { CommandContext } from '../command.ts';
import { usageError } from '../errors.ts';
import { textOption } from './option-values.ts';
import { bytesOf, type StandardInput } from './values.ts';
import type { Verification } from '../../shared/rules/signature.ts';

/** The signature schemes a command can be told; `none` signs nothing. */
const SCHEMES = ['stripe', 'github', 'hmac_sha256', 'standard_webhooks'] as const;

/**
 * The secret of `--secret`, else of SVC_WEBHOOK_SECRET, or null. Other users of the machine can read arguments, so
 * `@file`, `-` and the variable are the ways to keep it to yourself. The line end of a file is no part of it.
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

/** The scheme of `--scheme`. */
export function schemeInput(context: CommandContext): Exclude<Verification, 'none'> {
  const text = textOption(context, 'scheme');
  const scheme = SCHEMES.find((name) => name === text);
  if (scheme) return scheme;
  throw usageError('--scheme is missing.', `One of: ${SCHEMES.join(', ')}.`);
}
