import { webhookKinds } from '../../shared/senders/samples.ts';
import { plainText } from '../view/terminal-text.ts';

/** The sample to try first, where a sender has several. */
const FIRST: ReadonlySet<string> = new Set(['github.pull_request.opened', 'stripe.invoice.paid']);

/** The command that sends a sample to this source. */
export function triggerLine(source: Readonly<Record<string, unknown>>): string {
  const { name, type, verification } = source;
  if (type === 'email') return 'svc trigger email';
  const own = webhookKinds.filter((one) => one.verification === verification);
  const kind = own.find((one) => FIRST.has(one.kind)) ?? own[0];
  return `svc trigger ${kind?.kind ?? 'webhook'} --source ${plainText(name)}`;
}
