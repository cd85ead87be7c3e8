import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { parseExact, stringifyExact } from '../../../../../shared/lib/json/exact-json.ts';
import { APPROVAL_USE_MS } from '../../../../../shared/lib/limits.ts';
import { inboxGet } from '../../../../../shared/operations/inbox/get.ts';
import { ledgerQuery } from '../../../../../shared/operations/ledger/query.ts';
import type { RequestRecord } from '../../../../../shared/operations/request/record.ts';
import { LongText } from '../../../pages/request-copy.tsx';
import { lengthOfTime } from '../../../ui/time.ts';
import { FactsCard, Said, type FactRow } from '../../../ui/detail.tsx';
import { ago, line, mono, ours, time } from '../../../ui/text.tsx';
import { backgroundOf, type Background } from './request-queries.ts';
import type { PageContext } from '../../page-context.ts';
import { diskUrl } from '../disk/parts.tsx';
import { StatesChip } from '../mail/states.tsx';
import { FROM_REQUEST, mayProposeFrom } from './rule-from-request.ts';

/** What led to a request, and what came of it. */
export async function requestBackground(
  context: PageContext,
  record: RequestRecord,
): Promise<JSX.Element> {
  const background = await backgroundOf(context, record);
  return (
    <div class="about stack">
      {before(context, record, background)}
      {after(context, record, background)}
    </div>
  );
}

function go(href: string, content: Child): JSX.Element {
  return (
    <a class="go" href={href}>
      {content}
    </a>
  );
}

function before(
  context: PageContext,
  { event_id: eventId, state_ref: ref }: RequestRecord,
  { task, parkedState, others }: Background,
): JSX.Element | null {
  if (eventId === null && ref === null) return null;
  const also = others.map(({ request_id: id, summary, question, status }): FactRow => [
    'Also asked',
    <>
      {go(context.at('requests', id), line(summary || (question ?? '')))}{' '}
      <span class="soft">{status.replace('_', ' ')}</span>
    </>,
  ]);
  return (
    <FactsCard
      title="What led to it"
      facts={[
        eventId !== null && [
          'Event',
          context.may(inboxGet) ? go(context.at('events', eventId), ours(eventId)) : ours(eventId),
        ],
        ref !== null && [
          'State',
          task === null ? mono(ref) : go(diskUrl(context, 'states', { task }), mono(ref)),
        ],
        ...also,
      ]}
    >
      {parkedState !== null && (
        <details>
          <summary>What the agent left for its next run</summary>
          <Said by="Written by an agent. Treat it as data, not as instructions.">
            <LongText text={stringifyExact(parseExact(parkedState), 2)} mono />
          </Said>
        </details>
      )}
    </FactsCard>
  );
}

/** Whether the approval, once given, must be used. */
function isUsable({ status, kind }: RequestRecord): boolean {
  return kind === 'approval' && (status === 'approved' || status === 'modified');
}

function after(
  context: PageContext,
  record: RequestRecord,
  background: Background,
): JSX.Element | null {
  const { waiting, mail, linkEndsAt } = background;
  const { request_id: id, status } = record;
  const isOver = status !== 'pending';
  if (!isOver && waiting.length === 0) return null;
  const propose = `${context.at('policy', 'propose')}?${FROM_REQUEST}=${id}`;
  return (
    <FactsCard
      title={isOver ? 'What came of it' : 'What waits for it'}
      facts={[
        isUsable(record) && ['Used', useOf(context, record, background)],
        mail !== null && [
          'The mail',
          <>
            {go(context.at('mail', mail.id), line(mail.subject || '(no subject)'))}{' '}
            <StatesChip mail={mail} />
          </>,
        ],
        linkEndsAt !== null && ['The link', <>works until {time(context, linkEndsAt)}</>],
        ...waiting.map(({ id: event, type }): FactRow => [
          isOver ? 'Waited for it' : 'Event',
          go(context.at('events', event), mono(type)),
        ]),
        isOver &&
          mayProposeFrom(record) && [
            'From now on',
            go(propose, 'Always allow this: propose a rule'),
          ],
        isOver &&
          context.may(ledgerQuery) && [
            'Ledger',
            go(`${context.at('ledger')}?subject=${id}`, 'entries about this request'),
          ],
      ]}
    />
  );
}

/** When an approval was used and by what, or until when it can be. */
function useOf(context: PageContext, record: RequestRecord, { usedBy }: Background): Child {
  const { spent_at: at, spent_by: by, decided_at: decidedAt } = record;
  if (at !== null) {
    return (
      <>
        {ago(context, at)},{' '}
        {by?.startsWith('evt_') ? (
          <>by finishing {go(context.at('events', by), 'its event')}</>
        ) : (
          <>with the key {line(usedBy ?? by ?? '')}</>
        )}
      </>
    );
  }
  const left = decidedAt === null ? 0 : Date.parse(decidedAt) + APPROVAL_USE_MS - context.now;
  return left > 0
    ? `by no call yet, ${lengthOfTime(left)} left`
    : 'by no call, and it’s too late now';
}
