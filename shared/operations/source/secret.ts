import * as z from 'zod';
import { checkSecret } from '../../rules/payload/signature.ts';
import { senderOf, type Verification } from '../../senders/registry.ts';

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
  const { secretBy } = senderOf(verification);
  if (secretBy === null) {
    return secret === undefined ? null : "This verification doesn't use a secret.";
  }
  if (secret !== undefined) return checkSecret(verification, secret);
  return secretBy === 'handshake' ? null : 'Required for this verification.';
}
