import { SCHEME, SECRET, BODY, SIGNATURE_HEADER } from '../../work/options.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { usageError } from '../../errors.ts';
import { listOption, textOption } from '../../input/option-values.ts';
import { schemeInput } from '../../input/secret-input.ts';
import { secretAndBody } from './sign.ts';
import {
  checkSecret,
  verifySignature,
  type HeaderRecord,
  type Verification,
} from '../../../shared/rules/signature.ts';

export const declaration: Declaration = {
  summary: 'Verify a webhook signature.',
  description:
    'Exit code 0: valid. Exit code 1: invalid, with the reason: a missing header, a time more than 300 s off, or a different secret or body.',
  args: [],
  options: [
    SCHEME,
    SECRET,
    BODY,
    {
      flag: 'header',
      short: 'H',
      value: "'NAME: VALUE'",
      summary: 'A header from the delivery; repeatable.',
      repeatable: true,
    },
    SIGNATURE_HEADER,
  ],
  examples: [
    "webhook verify --scheme github --secret @secret.txt --body @push.json -H 'X-Hub-Signature-256: sha256=…'",
    "webhook verify --scheme hmac_sha256 --signature-header x-build-signature --body @body.json -H 'X-Build-Signature: 9f86d0…'",
  ],
  seeAlso: ['webhook sign', 'source add'],
};

const TOLERANCE_SECONDS = 300;

interface Check {
  readonly verification: Verification;
  readonly secrets: readonly string[];
  readonly signatureHeader: string | undefined;
  readonly headers: HeaderRecord;
  readonly body: Uint8Array;
}

/** Checks a captured webhook's signature; the exit code is the result. */
export async function run(context: CommandContext): Promise<number> {
  const verification = schemeInput(context);
  const headers = headerInput(listOption(context, 'header'));
  const { secret, body } = await secretAndBody(context);
  const problem = checkSecret(verification, secret);
  if (problem !== null) throw usageError(problem);
  const signatureHeader = textOption(context, 'signature-header');
  const check: Check = { verification, secrets: [secret], signatureHeader, headers, body };
  const valid = verifySignature({ ...check, nowMs: Date.now() });
  const reason = valid ? null : whyNot(check);
  const { output } = context;
  if (output.json) output.answer({ valid, reason });
  else output.line(valid ? 'The signature is valid.' : `The signature isn't valid: ${reason}`);
  return valid ? EXIT.done : EXIT.refused;
}

function headerInput(lines: readonly string[]): HeaderRecord {
  const headers: Record<string, string> = Object.create(null);
  for (const line of lines) {
    const at = line.indexOf(':');
    if (at <= 0)
      throw usageError(`\`${line}\` isn't a header.`, "Write it as --header 'Name: value'.");
    headers[line.slice(0, at).trim().toLowerCase()] = line.slice(at + 1).trim();
  }
  if (lines.length > 0) return headers;
  throw usageError('No headers given.', "Pass each one as --header 'Name: value'.");
}

/** A captured webhook fails by age more often than by signature, so the message tells the two apart. */
function whyNot(check: Check): string {
  const missing = neededHeaders(check).filter((name) => !(name in check.headers));
  if (missing.length > 0) return `the header ${missing.join(', ')} is missing.`;
  const seconds = signedAt(check);
  if (seconds !== null && verifySignature({ ...check, nowMs: seconds * 1000 })) {
    const age = Math.round(Date.now() / 1000 - seconds);
    return `it matches, but its time is ${Math.abs(age)} s ${age < 0 ? 'ahead' : 'ago'} and the limit is ${TOLERANCE_SECONDS} s.`;
  }
  return "it doesn't match this secret, body and headers.";
}

function neededHeaders({ verification, signatureHeader, headers }: Check): readonly string[] {
  switch (verification) {
    case 'stripe':
      return ['stripe-signature'];
    case 'github':
      return ['x-hub-signature-256'];
    case 'hmac_sha256':
      return [(signatureHeader ?? 'x-signature').toLowerCase()];
    case 'standard_webhooks': {
      const family = 'svix-signature' in headers ? 'svix' : 'webhook';
      return [`${family}-id`, `${family}-timestamp`, `${family}-signature`];
    }
    case 'none':
      break;
  }
  return [];
}

/** The signature's timestamp, in seconds. */
function signedAt({ verification, headers }: Check): number | null {
  const text =
    verification === 'stripe'
      ? /(?:^|,)\s*t=(\d{1,11})(?:,|$)/.exec(headers['stripe-signature'] ?? '')?.[1]
      : (headers['webhook-timestamp'] ?? headers['svix-timestamp']);
  return text !== undefined && /^\d{1,11}$/.test(text) ? Number(text) : null;
}
