import type { Source } from '../../clients/typescript/generated/types.ts';
import { webhookKinds } from '../../shared/senders/samples.ts';

/** The sample to try first, where a sender has several. */
const FIRST: ReadonlySet<string> = new Set(['github.pull_request.opened', 'stripe.invoice.paid']);

/** The command that sends a sample to this source. */
export function triggerLine({
  name,
  type,
  verification,
}: Pick<Source, 'name' | 'type' | 'verification'>): string {
  if (type === 'email') return 'svc trigger email';
  const own = webhookKinds.filter((one) => one.verification === verification);
  const kind = own.find((one) => FIRST.has(one.kind)) ?? own[0];
  return `svc trigger ${kind?.kind ?? 'webhook'} --source ${name}`;
}
