import { isObject } from '../../shared/lib/guards.ts';
import type { CommandContext, OptionSpec } from '../command.ts';
import { switchOption } from '../input/option-values.ts';
import { eventDetail } from '../view/event-detail.ts';
import type { View } from '../view/output.ts';

export const HEADERS: OptionSpec = { flag: 'headers', summary: 'Show the headers too.' };

/** The view of one event. Reads the payload that the answer left out, to say what the event is about. */
export async function detailOf(context: CommandContext, answer: unknown): Promise<View> {
  const headers = switchOption(context, 'headers');
  const event = isObject(answer) && isObject(answer['event']) ? answer['event'] : answer;
  const isLeftOut = isObject(event) && event['payload_truncated'] === true;
  if (context.output.json || !isLeftOut) return eventDetail(answer, { headers });
  return eventDetail(answer, { headers, whole: await wholeEvent(context, event['id']) });
}

/** Null for a key that may not see the payload, and wherever the call fails: the event was read already. */
export async function wholeEvent(
  { client, signal }: CommandContext,
  id: unknown,
): Promise<Readonly<Record<string, unknown>> | null> {
  const path = `/v1/inbox/events/${encodeURIComponent(String(id))}`;
  const event = await client()
    .call('GET', path, { signal })
    .catch(() => null);
  return isObject(event) && event['payload_truncated'] !== true ? event : null;
}
