import type { Request } from '../call/answers.ts';
import type { CommandContext } from '../command.ts';
import type { Client } from '../call/client.ts';
import type { RequestState } from './decision.ts';

const CONFIRM_MS = 5000;

type Printing = Pick<CommandContext, 'client' | 'output' | 'signal'>;

/**
 * Closes the event that tells of a person's decision once the decision is printed: before that, the event is how it
 * survives this process. The command did its work, so nothing that goes wrong here matters.
 */
export async function confirmReceived(
  { client, output, signal }: Printing,
  answer: RequestState | null,
): Promise<void> {
  if (!answer || !isToldByEvent(answer) || !(await output.isPrinted())) return;
  await sendReceived(client(), answer.request_id, signal);
}

/** The same for a request that is looked up. If another key asked it, the event belongs to that key. */
export async function confirmOwn(context: Printing, record: Request): Promise<void> {
  const { client, signal } = context;
  if (!isToldByEvent(record) || !(await isOwn(client(), record, signal))) return;
  await confirmReceived(context, record);
}

/** Whether this client's key asked it. */
export async function isOwn(
  client: Pick<Client, 'call'>,
  { requested_by: by }: Pick<Request, 'requested_by'>,
  signal: AbortSignal,
): Promise<boolean> {
  const known = await client.call('whoami', {}, optional(signal)).catch(() => null);
  return known?.key.id === by.key_id;
}

/** Says that the answer to a request arrived, or why it came too late to be used, if it can. */
export async function sendReceived(
  client: Pick<Client, 'call'>,
  request_id: string,
  signal: AbortSignal,
  unused?: string,
): Promise<void> {
  const input = { request_id, ...(unused !== undefined && { unused }) };
  await client.call('request_received', input, optional(signal)).catch(() => undefined);
}

function optional(signal: AbortSignal) {
  return { signal, timeoutMs: CONFIRM_MS, isOptional: true } as const;
}

/** Whether an event tells of this answer. If the policy decided at once, the event is done from the start. */
export function isToldByEvent<T extends RequestState>(
  answer: T,
): answer is T & { readonly request_id: string } {
  const { request_id: id, status, decided_by: by } = answer;
  return typeof id === 'string' && status !== 'pending' && !by?.startsWith('policy:');
}
