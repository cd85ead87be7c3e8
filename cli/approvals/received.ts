import { isObject } from '../../shared/lib/guards.ts';
import type { CommandContext } from '../command.ts';
import type { CallOptions, Client } from '../client.ts';
import type { Asked } from './decision.ts';

const CONFIRM_MS = 5000;

type Printing = Pick<CommandContext, 'client' | 'output' | 'signal'>;

/**
 * Closes the event that tells of a person's decision once the decision is printed: before that, the event is how it
 * survives this process. The command did its work, so nothing that goes wrong here matters.
 */
export async function confirmReceived(
  { client, output, signal }: Printing,
  answer: unknown,
): Promise<void> {
  if (!isToldByEvent(answer) || !(await output.isPrinted())) return;
  await sendReceived(client(), answer['request_id'], signal);
}

/** The same for a request that is looked up. Another key may have asked it, and then its event is for that one. */
export async function confirmOwn(context: Printing, record: unknown): Promise<void> {
  const { client, signal } = context;
  if (!isToldByEvent(record) || !(await isOwn(client(), record, signal))) return;
  await confirmReceived(context, record);
}

/** Whether this client's key asked it. */
export async function isOwn(
  client: Pick<Client, 'call'>,
  { requested_by: by }: Asked,
  signal: AbortSignal,
): Promise<boolean> {
  const known = await client.call('GET', '/v1/whoami', optional(signal)).catch(() => null);
  const key = isObject(known) ? known['key'] : null;
  return isObject(key) && isObject(by) && key['id'] === by['key_id'];
}

/** Says that the answer to a request arrived, if it can. */
export async function sendReceived(
  client: Pick<Client, 'call'>,
  request: string,
  signal: AbortSignal,
): Promise<void> {
  const path = `/v1/requests/${encodeURIComponent(request)}/received`;
  await client.call('POST', path, { ...optional(signal), body: {} }).catch(() => undefined);
}

function optional(signal: AbortSignal): CallOptions {
  return { signal, timeoutMs: CONFIRM_MS, isOptional: true };
}

/** Whether an event tells of this answer. That of a decision which the policy made at once is done from the start. */
export function isToldByEvent(answer: unknown): answer is Asked & { readonly request_id: string } {
  if (!isObject(answer)) return false;
  const { request_id: id, status, decided_by: by } = answer;
  return typeof id === 'string' && status !== 'pending' && !String(by).startsWith('policy:');
}
