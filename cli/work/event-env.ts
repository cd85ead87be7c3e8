import { isObject } from '../../shared/lib/guards.ts';
import type { FeedEvent } from '../../clients/typescript/core/event-feed.ts';

/**
 * The environment variables for a command's event. Undefined removes a variable, because a worker may run inside
 * another worker's command.
 */
export function eventEnv(event: FeedEvent): Record<string, string | undefined> {
  return {
    SVC_EVENT_ID: event.id,
    SVC_EVENT_TYPE: event.type,
    SVC_EVENT_SOURCE: event.source,
    SVC_LEASE_ID: textOf(event['lease_id']) ?? '',
    ...resumedEnv(event['resumed']),
  };
}

/** The answer that woke the event, or else the first one. */
function resumedEnv(resumed: unknown): Record<string, string | undefined> {
  const { because, answers } = isObject(resumed) ? resumed : {};
  const all = (Array.isArray(answers) ? answers : []).filter(isObject);
  const answer = all.find(({ request_id: id }) => id === because) ?? all[0] ?? {};
  return {
    SVC_RESUMED: isObject(resumed) ? '1' : undefined,
    SVC_DECISION: textOf(answer['decision']) ?? textOf(answer['status']),
    SVC_REQUEST_ID: textOf(answer['request_id']),
  };
}

/** A variable can't contain a NUL. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value.replaceAll('\0', '') : undefined;
}
