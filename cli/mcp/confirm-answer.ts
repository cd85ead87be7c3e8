import { isObject } from '../../shared/lib/guards.ts';
import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { isOwn, isToldByEvent, sendReceived } from '../approvals/received.ts';
import type { Client } from '../client.ts';

/** The tools whose answer is how a request ended. A link of `file_url` uses its approval, which says the same. */
const ASKING: readonly unknown[] = [
  'ask_approval',
  'ask_human',
  'policy_set',
  'email_send',
  'file_url',
];
const LOOKING = 'request_status';

/** Once a client has the answer to a question, closes the event that tells of it. */
export async function confirmAnswer(
  client: Pick<Client, 'call'>,
  { method, params }: JSONRPCRequest,
  message: JSONRPCMessage,
  signal: AbortSignal,
): Promise<void> {
  if (method !== 'tools/call' || !('result' in message)) return;
  const { structuredContent: answer } = message.result;
  const isAnswer = ASKING.includes(params?.['name']) || params?.['name'] === LOOKING;
  if (!isAnswer || !isObject(answer) || !isToldByEvent(answer)) return;
  if (params?.['name'] === LOOKING && !(await isOwn(client, answer, signal))) return;
  await sendReceived(client, answer.request_id, signal);
}
