import { isObject } from '../../../shared/lib/guards.ts';
import { showing } from '../../operation-command.ts';

const WITH_EVENTS = ['request_id', 'status', 'summary', 'event_id', 'created_at'];

/** `svc request list`: with each request's event, if it has one. */
export const run = showing((answer) => {
  const items: unknown = isObject(answer) ? answer['items'] : null;
  const requests = Array.isArray(items) ? items.filter(isObject) : [];
  return requests.some((request) => typeof request['event_id'] === 'string')
    ? { columns: WITH_EVENTS }
    : {};
});
