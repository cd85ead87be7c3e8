import { plainText } from '../view/terminal-text.ts';

const KINDS: Readonly<Record<string, string>> = {
  github: 'github.pull_request.opened',
  stripe: 'stripe.invoice.paid',
};

/** The command that sends a sample to this source. */
export function triggerLine(source: Readonly<Record<string, unknown>>): string {
  const { name, type, verification } = source;
  if (type === 'email') return 'svc trigger email';
  const kind = KINDS[plainText(verification)] ?? 'webhook';
  return `svc trigger ${kind} --source ${plainText(name)}`;
}
