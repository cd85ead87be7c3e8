import type { JSX } from 'hono/jsx/jsx-runtime';
import { pluralize } from '../../../../shared/lib/pluralize.ts';
import { plainLine } from '../../pages/text.ts';
import { lengthOfTime } from '../../pages/time.ts';
import { AgentText } from '../../pages/request-copy.tsx';
import {
  addressText,
  Age,
  EventStatusChip,
  mailOf,
  Verified,
  waitsForText,
} from '../event-copy.tsx';
import type { ListedEvent } from '../event-list-queries.ts';
import type { PageContext } from '../page-context.ts';

interface EventRowProps {
  readonly context: PageContext;
  readonly item: ListedEvent;
  /** Whether it can be selected. */
  readonly mayPick: boolean;
}

/** An event in a list, with a line of its content. */
export function EventRow({ context, item, mayPick }: EventRowProps): JSX.Element {
  const { event, gist } = item;
  const { id, type, status } = event;
  const subject = mailOf(event)?.subject;
  return (
    <li class="pick" data-event={id}>
      {mayPick && (
        <label>
          <input type="checkbox" name="event" value={id} data-pick />
          <span class="unseen">Select {plainLine(subject ?? type)}</span>
        </label>
      )}
      <a href={context.at('events', id)} data-row>
        {subject ? (
          <AgentText text={subject} reading="line" class="what" />
        ) : (
          <AgentText text={type} reading="exact" class="what mono" />
        )}
        <EventStatusChip status={status} />
        {gist !== '' && <AgentText text={gist} reading="line" class="gist" />}
        <Meta context={context} item={item} />
      </a>
    </li>
  );
}

function Meta({ context, item: { event } }: Omit<EventRowProps, 'mayPick'>): JSX.Element {
  const { source, attempts, retry_at: retryAt, waiting_for: waitingFor } = event;
  const mail = mailOf(event);
  return (
    <span class="meta">
      {mail?.from ? (
        <AgentText text={`from ${addressText(mail.from)}`} reading="line" />
      ) : (
        <AgentText text={source} reading="line" />
      )}
      {' · '}
      <Verified event={event} />
      {event.suspected_replay && ' · may be a duplicate'}
      {' · '}
      <Age at={event.received_at} now={context.now} />
      {attempts > 0 && ` · ${pluralize(attempts, 'failed attempt')}`}
      {waitingFor && ` · waits for ${waitsForText(waitingFor)}`}
      {retryAt !== null && ` · again in ${lengthOfTime(Date.parse(retryAt) - context.now)}`}
    </span>
  );
}
