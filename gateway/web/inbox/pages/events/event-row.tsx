import type { JSX } from 'hono/jsx/jsx-runtime';
import { pluralize } from '../../../../../shared/lib/pluralize.ts';
import { plainLine } from '../../../pages/text.ts';
import { lengthOfTime } from '../../../ui/time.ts';
import { addressText, EventStatusChip, mailOf, Verified, waitsForText } from './event-copy.tsx';
import type { ListedEvent } from './event-list-queries.ts';
import { age, dotted, exact, line } from '../../../ui/text.tsx';
import type { PageContext } from '../../page-context.ts';

/** An event in a list, with a line of its content. `mayPick`: whether it can be selected. */
export function eventRow(
  context: PageContext,
  { event, gist }: ListedEvent,
  mayPick: boolean,
): JSX.Element {
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
        {subject ? line(subject, 'what') : exact(type, 'what mono')}
        <EventStatusChip status={status} />
        {gist !== '' && line(gist, 'gist')}
        {metaOf(context, event)}
      </a>
    </li>
  );
}

function metaOf(context: PageContext, event: ListedEvent['event']): JSX.Element {
  const { source, attempts, retry_at: retryAt, waiting_for: waitingFor } = event;
  const from = mailOf(event)?.from;
  return (
    <span class="meta">
      {dotted([
        line(from ? `from ${addressText(from)}` : source),
        <Verified event={event} />,
        event.suspected_replay && 'may be a duplicate',
        age(context, event.received_at),
        attempts > 0 && pluralize(attempts, 'failed attempt'),
        waitingFor ? `waits for ${waitsForText(waitingFor)}` : null,
        retryAt !== null && `again in ${lengthOfTime(Date.parse(retryAt) - context.now)}`,
      ])}
    </span>
  );
}
