import type { Request } from '../call/answers.ts';
import { isObject } from '../../shared/lib/guards.ts';
import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { isOwn, isToldByEvent, sendReceived } from '../approvals/received.ts';
import type { Client } from '../call/client.ts';

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
  request: JSONRPCRequest,
  message: JSONRPCMessage,
  signal: AbortSignal,
): Promise<void> {
  const road = roadOf(request);
  if (road === null || !('result' in message)) return;
  const result: unknown = road === 'task' ? message.result['result'] : message.result;
  const answer = isObject(result) ? result['structuredContent'] : null;
  if (!isObject(answer)) return;
  // A tool answers what its operation answers.
  const record = answer as unknown as Request;
  if (!isToldByEvent(record)) return;
  const { request_id: id } = record;
  if (road !== 'ask') {
    // The question may be another key's, and a task's answer doesn't say who asked.
    const known = road === 'task' ? await recordOf(client, id, signal) : record;
    if (known === null || !(await isOwn(client, known, signal))) return;
  }
  await sendReceived(client, id, signal);
}

/** How a client may get an answer with this request: by asking, by a look at the request, or by its task; null if it can't. */
function roadOf({ method, params }: JSONRPCRequest): 'ask' | 'look' | 'task' | null {
  if (method === 'tasks/get') return 'task';
  if (method !== 'tools/call') return null;
  if (params?.['name'] === LOOKING) return 'look';
  return ASKING.includes(params?.['name']) ? 'ask' : null;
}

function recordOf(
  client: Pick<Client, 'call'>,
  request_id: string,
  signal: AbortSignal,
): Promise<Request | null> {
  const options = { signal, isOptional: true } as const;
  return client.call('request_status', { request_id }, options).catch(() => null);
}
