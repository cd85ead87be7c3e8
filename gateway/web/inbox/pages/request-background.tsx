import type { JSX } from 'hono/jsx/jsx-runtime';
import { parseExact, stringifyExact } from '../../../../shared/lib/exact-json.ts';
import { APPROVAL_USE_MS } from '../../../../shared/lib/limits.ts';
import { ledgerQuery } from '../../../../shared/operations/ledger/query.ts';
import { mayCall } from '../../../../shared/lib/scopes.ts';
import type { RequestRecord } from '../../../../shared/operations/request/record.ts';
import { AgentText, Ago, LongText, Time } from '../../pages/request-copy.tsx';
import { lengthOfTime } from '../../pages/time.ts';
import { Fact } from '../parts.tsx';
import type { Background } from '../request-queries.ts';
import type { PageContext } from '../page-context.ts';
import { diskUrl } from './disk/parts.tsx';
import { StatesChip } from './mail/states.tsx';
import { FROM_REQUEST, mayProposeFrom } from './rule-from-request.ts';

interface Shown {
  readonly context: PageContext;
  readonly record: RequestRecord;
  readonly background: Background;
}

/** What led to a request, and what came of it. */
export function RequestBackground(shown: Shown): JSX.Element {
  return (
    <div class="about stack">
      <Before {...shown} />
      <After {...shown} />
    </div>
  );
}

function Before({ context, record, background }: Shown): JSX.Element | null {
  const { event_id: eventId, state_ref: ref } = record;
  const { task, parkedState, others } = background;
  const mayRead = mayCall(context.access.scopes, 'inbox:read');
  if (eventId === null && ref === null) return null;
  return (
    <section class="card stack" aria-labelledby="before">
      <h2 id="before">What led to it</h2>
      <dl class="facts">
        {eventId !== null && (
          <Fact name="Event">
            {mayRead ? (
              <a class="go exact mono" href={context.at('events', eventId)}>
                {eventId}
              </a>
            ) : (
              <span class="exact mono">{eventId}</span>
            )}
          </Fact>
        )}
        {ref !== null && (
          <Fact name="State">
            {task === null ? (
              <AgentText text={ref} reading="exact" class="mono" />
            ) : (
              <a class="go" href={diskUrl(context, 'states', { task })}>
                <AgentText text={ref} reading="exact" class="mono" />
              </a>
            )}
          </Fact>
        )}
        {others.map(({ request_id: id, summary, question, status }) => (
          <Fact name="Also asked">
            <a class="go" href={context.at('requests', id)}>
              <AgentText text={summary || (question ?? '')} reading="line" />
            </a>{' '}
            <span class="soft">{status.replace('_', ' ')}</span>
          </Fact>
        ))}
      </dl>
      {parkedState !== null && (
        <details>
          <summary>What the agent left for its next run</summary>
          <figure class="said">
            <figcaption>Written by an agent. Treat it as data, not as instructions.</figcaption>
            <LongText text={stringifyExact(parseExact(parkedState), 2)} mono />
          </figure>
        </details>
      )}
    </section>
  );
}

/** Whether the approval, once given, must be used. */
function isUsable({ status, kind }: RequestRecord): boolean {
  return kind === 'approval' && (status === 'approved' || status === 'modified');
}

function After(shown: Shown): JSX.Element | null {
  const { context, record, background } = shown;
  const { waiting, mail, linkEndsAt } = background;
  const { now } = context;
  const mayVerify = mayCall(context.access.scopes, ledgerQuery.scope);
  const isOver = record.status !== 'pending';
  if (!isOver && waiting.length === 0) return null;
  return (
    <section class="card" aria-labelledby="after">
      <h2 id="after">{isOver ? 'What came of it' : 'What waits for it'}</h2>
      <dl class="facts">
        {isUsable(record) && <Used {...shown} />}
        {mail !== null && (
          <Fact name="The mail">
            <a class="go" href={context.at('mail', mail.id)}>
              <AgentText text={mail.subject || '(no subject)'} reading="line" />
            </a>{' '}
            <StatesChip mail={mail} />
          </Fact>
        )}
        {linkEndsAt !== null && (
          <Fact name="The link">
            works until <Time at={linkEndsAt} now={now} />
          </Fact>
        )}
        {waiting.map(({ id, type }) => (
          <Fact name={isOver ? 'Waited for it' : 'Event'}>
            <a class="go" href={context.at('events', id)}>
              <AgentText text={type} reading="exact" class="mono" />
            </a>
          </Fact>
        ))}
        {isOver && mayProposeFrom(record) && (
          <Fact name="From now on">
            <a
              class="go"
              href={`${context.at('policy', 'propose')}?${FROM_REQUEST}=${record.request_id}`}
            >
              Always allow this: propose a rule
            </a>
          </Fact>
        )}
        {isOver && mayVerify && (
          <Fact name="Ledger">
            <a class="go" href={`${context.at('ledger')}?subject=${record.request_id}`}>
              entries about this request
            </a>
          </Fact>
        )}
      </dl>
    </section>
  );
}

/** When an approval was used and by what, or until when it can be. */
function Used({ context, record, background }: Shown): JSX.Element {
  const { now } = context;
  const { spent_at: at, spent_by: by, decided_at: decidedAt } = record;
  if (at !== null) {
    return (
      <Fact name="Used">
        <Ago at={Date.parse(at)} now={now} />,{' '}
        {by?.startsWith('evt_') ? (
          <>
            by finishing{' '}
            <a class="go" href={context.at('events', by)}>
              its event
            </a>
          </>
        ) : (
          <>
            with the key <AgentText text={background.usedBy ?? by ?? ''} reading="line" />
          </>
        )}
      </Fact>
    );
  }
  const until = decidedAt === null ? null : Date.parse(decidedAt) + APPROVAL_USE_MS;
  return (
    <Fact name="Used">
      {until !== null && until > now
        ? `by no call yet, ${lengthOfTime(until - now)} left`
        : 'by no call, and it’s too late now'}
    </Fact>
  );
}
