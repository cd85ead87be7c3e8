import * as z from 'zod';
import { checkSecret, type Verification } from '../../rules/signature.ts';

export const sourceSecret = z
  .string()
  .min(1)
  .max(1024)
  .describe('The signing secret, exactly as the sender shows it.');

/** What's wrong with a source's secret for this verification, as a sentence; null if it's fine. */
export function secretProblem(
  verification: Verification,
  secret: string | undefined,
): string | null {
  if (verification === 'none') {
    return secret === undefined ? null : "This verification doesn't use a secret.";
  }
  return secret === undefined
    ? 'Required for this verification.'
    : checkSecret(verification, secret);
}
