import type { Answer, InboxEvent } from '../call/answers.ts';
import type { CommandContext, OptionSpec } from '../command.ts';
import { switchOption } from '../input/option-values.ts';
import { eventDetail } from '../view/event-detail.ts';
import type { View } from '../view/output.ts';

export const HEADERS: OptionSpec = { flag: 'headers', summary: 'Show the headers too.' };

/** The view of one event. Reads the payload that the answer left out, to say what the event is about. */
export async function detailOf(context: CommandContext, event: InboxEvent): Promise<View> {
  const headers = switchOption(context, 'headers');
  if (context.output.json || !event.payload_truncated) return eventDetail(event, { headers });
  return eventDetail(event, { headers, whole: await wholeEvent(context, event.id) });
}

/** Null for a key that may not see the payload, and wherever the call fails: the event was read already. */
export async function wholeEvent(
  { client, signal }: CommandContext,
  id: string,
): Promise<Answer<'inbox_get'> | null> {
  const event = await client()
    .call('inbox_get', { event_id: id }, { signal })
    .catch(() => null);
  return event?.payload_truncated ? null : event;
}
