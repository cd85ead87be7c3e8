import type { JSX } from 'hono/jsx/jsx-runtime';
import { nounFor } from '../../../../../shared/lib/pluralize.ts';
import { isSetAsideReason } from '../../../../commit/commands/inbox/set-aside.ts';
import { Icon } from '../../../ui/icons.tsx';
import { digitsOf } from '../../../ui/number.ts';
import { LongText } from '../../../pages/request-copy.tsx';
import { mailOf, STATUSES, Verified } from './event-copy.tsx';
import { gistOf } from './event-list-queries.ts';
import { lookAtEvent, type SeenEvent } from './event-queries.ts';
import { timelineOf } from './event-timeline.ts';
import { FactsCard, idFact, Said } from '../../../ui/detail.tsx';
import type { Detail } from '../../../ui/item.tsx';
import type { Resource } from '../../../ui/resource.tsx';
import { ago, exact, line, mono } from '../../../ui/text.tsx';
import type { PageContext } from '../../page-context.ts';
import { contentOf } from './event-content.tsx';
import { historyOf } from './event-history.tsx';
import { questionsAbout } from './event-questions.tsx';
import { EVENT_MOVES, progressOf } from './event-state.tsx';

/** One event: its content, its progress, and what a person can do with it. */
export const eventItem: Pick<Resource<SeenEvent>, 'find' | 'detail' | 'acts'> = {
  find: lookAtEvent,
  detail,
  acts: EVENT_MOVES,
};

const GIST_MAX_CHARS = 300;

async function detail(context: PageContext, seen: SeenEvent): Promise<Detail> {
  const { event } = seen;
  const timeline = await timelineOf(context, { id: event.id, seq: seen.seq });
  const questions = await questionsAbout(context, event.id);
  const mail = mailOf(event);
  // A mail shows its own head.
  const gist = mail ? '' : gistOf(event).slice(0, GIST_MAX_CHARS);
  return {
    title: 'Event',
    heading: mail?.subject ? 'Mail received' : exact(event.type),
    ...(gist !== '' && { lead: line(gist) }),
    main: (
      <>
        {remarks(seen)}
        {contentOf(context, seen)}
      </>
    ),
    side: { state: STATUSES[event.status], lines: progressOf(context, seen) },
    below: (
      <div class="about stack">
        {questions}
        {about(context, seen)}
        {historyOf(context, timeline, event.id)}
      </div>
    ),
  };
}

/** What agents said about the event, or why it was set aside. */
function remarks({ event, reason, result }: SeenEvent): JSX.Element | null {
  const isOver = event.status === 'done';
  const said = isOver ? result : reason;
  if (said === null) return null;
  const why = isSetAsideReason(said) ? 'Why it was set aside' : 'Why an agent gave it back';
  return (
    <Said by={isOver ? 'What the agent said when it finished' : why}>
      <LongText text={said} mono={isOver} />
    </Said>
  );
}

function about(context: PageContext, { event, sizeBytes, contentType }: SeenEvent): JSX.Element {
  const size = `${digitsOf(sizeBytes)} ${nounFor(sizeBytes, 'byte')}`;
  return (
    <FactsCard
      title="About this event"
      facts={[
        ['Received', ago(context, event.received_at)],
        ['Source', mono(event.source)],
        ['Type', mono(event.type)],
        [
          'Sender',
          <>
            <Verified event={event} />
            {event.suspected_replay && (
              <span class="mark warn">
                <Icon name="warn" /> may be a duplicate
              </span>
            )}
          </>,
        ],
        [
          'Content',
          contentType === null ? (
            size
          ) : (
            <>
              {size}, {line(contentType.slice(0, 200))}
            </>
          ),
        ],
        event.reply_to !== null && ['In reply to', mono(event.reply_to)],
        idFact(event.id),
      ]}
    />
  );
}
