import type { JSX } from 'hono/jsx/jsx-runtime';
import { AgentText, Time } from '../../pages/request-copy.tsx';
import { Chip, Form, Table, type Column, type Tone } from '../parts.tsx';
import { isDelivered, type Attempt, type Delivery } from '../route-queries.ts';
import type { PageContext } from '../page-context.ts';
import { pluralize } from '../../../../shared/lib/pluralize.ts';

const STATUSES: Readonly<Record<Delivery['status'], readonly [text: string, tone: Tone]>> = {
  pending: ['Pending', 'calm'],
  delivered: ['Delivered', 'good'],
  dead: ['Given up', 'bad'],
  cancelled: ['Cancelled', 'calm'],
};

interface DeliveryProps {
  readonly context: PageContext;
  readonly delivery: Delivery;
  /** Whether to show a retry button. */
  readonly isRetriable: boolean;
}

/** A delivery, folded to one line; unfolded, it shows each attempt and the receiver's response. */
export function DeliveryCard({ context, delivery, isRetriable }: DeliveryProps): JSX.Element {
  const { delivery_id: id, event_id: eventId, event_type: type, status, attempts, log } = delivery;
  const [text, tone] = STATUSES[status];
  const isOpen = status === 'pending' || status === 'dead';
  return (
    <li>
      <details>
        <summary data-row>
          <span class="cells">
            <AgentText text={type} reading="exact" class="what mono" />
            <Chip text={text} tone={tone} />
            <span class="meta">
              <Line context={context} delivery={delivery} />
            </span>
          </span>
        </summary>
        <div class="inner stack">
          <p>
            <span class="soft">Event</span>{' '}
            <a class="exact" href={context.at('events', eventId)}>
              {eventId}
            </a>
          </p>
          {log.length > 0 && <Attempts context={context} log={log} />}
          {attempts > log.length && (
            <p class="soft">
              The latest {log.length.toString()} of {pluralize(attempts, 'attempt')}.
            </p>
          )}
          {isRetriable && isOpen && (
            <Form context={context}>
              <input type="hidden" name="delivery" value={id} />
              <button class="btn small" name="act" value="retry">
                Retry now
              </button>
            </Form>
          )}
        </div>
      </details>
    </li>
  );
}

function Line({ context, delivery }: Omit<DeliveryProps, 'isRetriable'>): JSX.Element {
  const { attempts, next_attempt_at: next, created_at: created, log } = delivery;
  const [last] = log;
  return (
    <>
      <Time at={Date.parse(created)} now={context.now} />
      {' · '}
      {attempts === 0 ? 'not tried yet' : pluralize(attempts, 'attempt')}
      {last && ` · last ${last.status_code ?? 'no answer'}`}
      {next !== null && (
        <>
          {' · next at '}
          <Time at={Date.parse(next)} now={context.now} />
        </>
      )}
    </>
  );
}

function Attempts({
  context,
  log,
}: {
  readonly context: PageContext;
  readonly log: readonly Attempt[];
}): JSX.Element {
  const columns: readonly Column<Attempt>[] = [
    { title: 'Attempt', numeric: true, cell: ({ attempt }) => attempt.toString() },
    { title: 'When', cell: ({ at }) => <Time at={Date.parse(at)} now={context.now} /> },
    {
      title: 'Status',
      cell: (one) => (
        <Chip
          text={one.status_code === null ? 'no answer' : one.status_code.toString()}
          tone={isDelivered(one) ? 'good' : 'bad'}
        />
      ),
    },
    { title: 'Took', numeric: true, cell: ({ duration_ms: ms }) => `${ms} ms` },
    { title: 'Response', cell: (one) => <Answer attempt={one} /> },
  ];
  return <Table caption="Attempts, newest first" columns={columns} items={log} />;
}

function Answer({ attempt }: { readonly attempt: Attempt }): JSX.Element {
  const { error, response } = attempt;
  return (
    <>
      {error !== null && <AgentText text={error} reading="line" />}
      {response !== null && response !== '' && (
        <AgentText text={response} reading="prose" class="mono" />
      )}
      {error === null && (response === null || response === '') && <span class="soft">empty</span>}
    </>
  );
}
