import { SCHEME, SECRET, BODY, SIGNATURE_HEADER } from '../../work/options.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { usageError } from '../../errors.ts';
import { listOption, textOption } from '../../input/option-values.ts';
import { schemeInput } from '../../input/secret-input.ts';
import { secretAndBody } from './sign.ts';
import {
  checkSecret,
  deliveryProblem,
  type ReceivedDelivery,
} from '../../../shared/rules/payload/signature.ts';
import { headersAmong } from '../../../shared/senders/places.ts';
import type { ProofProblem } from '../../../shared/senders/proof.ts';
import type { HeaderRecord } from '../../../shared/senders/sender.ts';

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

/** Checks a captured webhook's signature; the exit code is the result. */
export async function run(context: CommandContext): Promise<number> {
  const verification = schemeInput(context);
  const headers = headerInput(listOption(context, 'header'));
  const { secret, body } = await secretAndBody(context);
  const wrong = checkSecret(verification, secret);
  if (wrong !== null) throw usageError(wrong);
  const signatureHeader = textOption(context, 'signature-header');
  const check = { verification, secrets: [secret], signatureHeader, headers, body };
  const problem = deliveryProblem({ ...check, nowMs: Date.now() });
  const reason = problem && whyNot(check, problem);
  const { output } = context;
  if (output.json) output.answer({ valid: problem === null, reason });
  else
    output.line(
      reason === null ? 'The signature is valid.' : `The signature isn't valid: ${reason}`,
    );
  return problem === null ? EXIT.done : EXIT.refused;
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
function whyNot(check: Omit<ReceivedDelivery, 'nowMs'>, problem: ProofProblem): string {
  if (problem.kind === 'missing') {
    return `the header ${headersAmong(problem.places).join(', ')} is missing.`;
  }
  if (problem.kind === 'stale' && !Number.isNaN(problem.behindSeconds)) {
    const { behindSeconds: behind, toleranceSeconds } = problem;
    const nowMs = Date.now() - behind * 1000;
    if (deliveryProblem({ ...check, nowMs }) === null) {
      return `it matches, but its time is ${Math.abs(behind)} s ${behind < 0 ? 'ahead' : 'ago'} and the limit is ${toleranceSeconds} s.`;
    }
  }
  return "it doesn't match this secret, body and headers.";
}
