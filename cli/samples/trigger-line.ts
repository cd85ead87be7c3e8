import { plainText } from '../view/terminal-text.ts';

const KINDS: ReadonlyMap<unknown, string> = new Map([
  ['github', 'github.pull_request.opened'],
  ['stripe', 'stripe.invoice.paid'],
]);

/** The command that sends a sample to this source. */
export function triggerLine(source: Readonly<Record<string, unknown>>): string {
  const { name, type, verification } = source;
  if (type === 'email') return 'svc trigger email';
  const kind = KINDS.get(verification) ?? 'webhook';
  return `svc trigger ${kind} --source ${plainText(name)}`;
}
