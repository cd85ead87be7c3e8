import type { JSX } from 'hono/jsx/jsx-runtime';
import { Icon } from '../../pages/icons.tsx';
import { digitsOf } from '../../pages/number.ts';
import { AgentText, Ago, LongText } from '../../pages/request-copy.tsx';
import { lookAtEvent, type SeenEvent } from '../event-queries.ts';
import { mailOf, Verified } from '../event-copy.tsx';
import { gistOf } from '../event-list-queries.ts';
import { actsFor, isEventAct, moveEvent } from '../event-moves.ts';
import { timelineOf } from '../event-timeline.ts';
import { Fact, Problem, UpLink } from '../parts.tsx';
import { fieldsOf, refusalOf } from '../refusal.ts';
import type { ActionResult, PageResult, FormError, PageContext } from '../page-context.ts';
import { Content } from './event-content.tsx';
import { History } from './event-history.tsx';
import { Questions, questionsOf } from './event-questions.tsx';
import { askToMove, StatusCard } from './event-state.tsx';
import { nounFor } from '../../../../shared/lib/pluralize.ts';

/** One event: its content, its progress, and what a person can do with it. */
export async function showEvent(context: PageContext, id: string): Promise<PageResult> {
  const seen = await lookAtEvent(context, id);
  const step = context.query('step');
  const isAsked = isEventAct(step) && actsFor(context, seen).includes(step);
  return isAsked ? askToMove(context, step, id) : shown(context, seen);
}

export async function actOnEvent(context: PageContext, body: string): Promise<ActionResult> {
  const { id } = context;
  const form = fieldsOf(body, ['act']);
  if (id === null || !isEventAct(form?.act)) {
    return unclear(context, id);
  }
  try {
    const reason = await moveEvent(context, form.act, id);
    if (reason === null) return { to: context.at('events', id) };
    const problem = `Nothing was done. ${reason}`;
    return shown(context, await lookAtEvent(context, id), { status: 409, problem });
  } catch (error) {
    const { status, text } = refusalOf(error, []);
    return shown(context, await lookAtEvent(context, id), { status, problem: text });
  }
}

/** Answers a form that none of our pages sends. */
async function unclear(context: PageContext, id: string | null): Promise<ActionResult> {
  if (id === null) return { to: context.at('events') };
  const problem = 'We couldn’t read the form. Nothing was done.';
  return shown(context, await lookAtEvent(context, id), { status: 400, problem });
}

const GIST_MAX_CHARS = 300;

async function shown(
  context: PageContext,
  seen: SeenEvent,
  { status = 200, problem = null }: FormError = {},
): Promise<PageResult> {
  const { event } = seen;
  const timeline = await timelineOf(context, { id: event.id, seq: seen.seq });
  const questions = await questionsOf(context, event.id);
  const mail = mailOf(event);
  // A mail shows its own head.
  const gist = mail ? '' : gistOf(event).slice(0, GIST_MAX_CHARS);
  const content = (
    <>
      <UpLink href={context.at('events')} whole>
        All events
      </UpLink>
      <div class="stack">
        <h1>{mail?.subject ? 'Mail received' : <AgentText text={event.type} reading="exact" />}</h1>
        {gist !== '' && (
          <p class="lead">
            <AgentText text={gist} reading="line" />
          </p>
        )}
        <Problem text={problem} />
        <Content context={context} seen={seen} />
      </div>
      <StatusCard context={context} seen={seen} />
      <div class="about stack">
        <Remarks seen={seen} />
        <Questions context={context} questions={questions} />
        <About context={context} seen={seen} />
        <History context={context} timeline={timeline} eventId={event.id} />
      </div>
    </>
  );
  return { title: 'Event', content, status, wide: true };
}

/** What agents said about the event. */
function Remarks({ seen }: { readonly seen: SeenEvent }): JSX.Element | null {
  const { event, reason, result } = seen;
  const isOver = event.status === 'done';
  const said = isOver ? result : reason;
  if (said === null) return null;
  return (
    <figure class="said">
      <figcaption>
        {isOver ? 'What the agent said when it finished' : 'Why an agent gave it back'}
      </figcaption>
      <LongText text={said} mono={isOver} />
    </figure>
  );
}

function About({
  context,
  seen,
}: {
  readonly context: PageContext;
  readonly seen: SeenEvent;
}): JSX.Element {
  const { event, sizeBytes, contentType } = seen;
  return (
    <section class="card" aria-labelledby="about">
      <h2 id="about">About this event</h2>
      <dl class="facts">
        <Fact name="Received">
          <Ago at={Date.parse(event.received_at)} now={context.now} />
        </Fact>
        <Fact name="Source">
          <AgentText text={event.source} reading="exact" class="mono" />
        </Fact>
        <Fact name="Type">
          <AgentText text={event.type} reading="exact" class="mono" />
        </Fact>
        <Fact name="Sender">
          <Verified event={event} />
          {event.suspected_replay && (
            <span class="mark warn">
              <Icon name="warn" /> may be a duplicate
            </span>
          )}
        </Fact>
        <Fact name="Content">
          {digitsOf(sizeBytes)} {nounFor(sizeBytes, 'byte')}
          {contentType !== null && (
            <>
              {', '}
              <AgentText text={contentType.slice(0, 200)} reading="line" />
            </>
          )}
        </Fact>
        {event.reply_to !== null && (
          <Fact name="In reply to">
            <AgentText text={event.reply_to} reading="exact" class="mono" />
          </Fact>
        )}
        <Fact name="Id">
          <span class="exact mono">{event.id}</span>
        </Fact>
      </dl>
    </section>
  );
}
