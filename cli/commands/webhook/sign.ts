import { SCHEME, SECRET, BODY, SIGNATURE_HEADER } from '../../work/options.ts';
import { randomUUID } from 'node:crypto';
import type { CommandContext, Declaration } from '../../command.ts';
import { usageError } from '../../errors.ts';
import { switchOption, textOption } from '../../input/option-values.ts';
import { schemeInput, secretInput } from '../../input/secret-input.ts';
import { bytesOf, StandardInput } from '../../input/values.ts';
import { checkSecret, signWebhook } from '../../../shared/rules/payload/signature.ts';

export const declaration: Declaration = {
  summary: 'Print the headers that sign a body.',
  args: [],
  options: [
    SCHEME,
    SECRET,
    BODY,
    SIGNATURE_HEADER,
    {
      flag: 'id',
      value: 'ID',
      summary: 'Only for standard_webhooks: the message id (default: a new one).',
    },
    { flag: 'lines', summary: 'Print `Name: value` lines even in a pipe.' },
  ],
  examples: [
    'webhook sign --scheme github --secret @secret.txt --body @push.json',
    'webhook sign --scheme stripe --secret @secret.txt --body @event.json --lines | curl -H @- -H content-type:application/json --data-binary @event.json http://localhost:3000/stripe',
  ],
  seeAlso: ['webhook verify', 'source sign', 'trigger'],
};

/** Prints the headers a provider would sign a body with. */
export async function run(context: CommandContext): Promise<void> {
  const { output } = context;
  const verification = schemeInput(context);
  const { secret, body } = await secretAndBody(context);
  const problem = checkSecret(verification, secret);
  if (problem !== null) throw usageError(problem);
  const id = textOption(context, 'id') ?? `msg_${randomUUID().replaceAll('-', '')}`;
  if (id === '' || id.includes('.')) throw usageError('--id must not be empty or contain a dot.');
  const headers = signWebhook({
    verification,
    secret,
    signatureHeader: textOption(context, 'signature-header'),
    id,
    body,
    nowMs: Date.now(),
  });
  if (output.json && !switchOption(context, 'lines')) {
    output.answer(headers);
    return;
  }
  for (const [name, value] of Object.entries(headers)) output.line(`${name}: ${value}`);
}

/** The secret and body for a signature command; one of them can be standard input. */
export async function secretAndBody(
  context: CommandContext,
): Promise<{ secret: string; body: Buffer }> {
  const stdin = new StandardInput(context.signal);
  const bodyText = textOption(context, 'body') ?? '-';
  if (bodyText === '-' && process.stdin.isTTY) {
    throw usageError('The body is missing.', 'Pass --body @file, or pipe it to standard input.');
  }
  const secret = await secretInput(context, stdin);
  if (secret === null) {
    throw usageError('The secret is missing.', 'Pass --secret @file, or set SVC_WEBHOOK_SECRET.');
  }
  return { secret, body: await bytesOf(bodyText, '--body', stdin) };
}
