import type { JSX } from 'hono/jsx/jsx-runtime';
import { pluralize } from '../../../../../shared/lib/pluralize.ts';
import { AgentText } from '../../../pages/request-copy.tsx';
import { dotted, exact, line, time } from '../../../ui/text.tsx';
import {
  Chip,
  Filters,
  Form,
  Nothing,
  Pager,
  Table,
  type Column,
  type Tone,
} from '../../../ui/parts.tsx';
import {
  deliveriesOf,
  DELIVERY_STATUSES,
  isDelivered,
  type Attempt,
  type Delivery,
  type Route,
} from './route-queries.ts';
import type { PageContext } from '../../page-context.ts';

const LIST_LENGTH = 20;

const STATUSES: Readonly<Record<Delivery['status'], readonly [text: string, tone: Tone]>> = {
  pending: ['Pending', 'calm'],
  delivered: ['Delivered', 'good'],
  dead: ['Given up', 'bad'],
  cancelled: ['Cancelled', 'calm'],
};

const FILTERS = [
  [null, 'All'] as const,
  ...DELIVERY_STATUSES.map((status) => [status, STATUSES[status][0]] as const),
];

interface DeliveriesProps {
  readonly context: PageContext;
  /** Whether to show buttons that try again. */
  readonly isRetriable: boolean;
}

/** A route's deliveries, each with its attempts. */
export async function Deliveries({
  context,
  route,
  isRetriable,
}: DeliveriesProps & { readonly route: Route }): Promise<JSX.Element> {
  const status = DELIVERY_STATUSES.find((one) => one === context.query('status')) ?? null;
  const cursor = context.query('cursor');
  const { items, next_cursor: next } = await deliveriesOf(context, route.id, {
    limit: LIST_LENGTH,
    ...(status !== null && { status }),
    ...(cursor !== undefined && { cursor }),
  });
  return (
    <section class="about" aria-labelledby="deliveries">
      <div class="listhead">
        <h2 id="deliveries">Deliveries of the last 30 days</h2>
        <Filters label="Filter" name="status" choices={FILTERS} chosen={status} />
      </div>
      {items.length === 0 ? (
        <Nothing>Nothing here.</Nothing>
      ) : (
        <ul class="rows folded">
          {items.map((delivery) => (
            <DeliveryCard context={context} delivery={delivery} isRetriable={isRetriable} />
          ))}
        </ul>
      )}
      <Pager context={context} next={next} keep={['status']} />
    </section>
  );
}

/** A delivery, folded to one line; unfolded, it shows each attempt and the receiver's response. */
function DeliveryCard({
  context,
  delivery,
  isRetriable,
}: DeliveriesProps & { readonly delivery: Delivery }): JSX.Element {
  const { delivery_id: id, event_id: eventId, event_type: type, status, attempts, log } = delivery;
  const { next_attempt_at: next, created_at: created } = delivery;
  const [text, tone] = STATUSES[status];
  const [newest] = log;
  return (
    <li>
      <details>
        <summary data-row>
          <span class="cells">
            {exact(type, 'what mono')}
            <Chip text={text} tone={tone} />
            <span class="meta">
              {dotted([
                time(context, created),
                attempts === 0 ? 'not tried yet' : pluralize(attempts, 'attempt'),
                newest !== undefined && `last ${newest.status_code ?? 'no answer'}`,
                next !== null && <>next at {time(context, next)}</>,
              ])}
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
          {log.length > 0 && (
            <Table caption="Attempts, newest first" columns={columnsOf(context)} items={log} />
          )}
          {attempts > log.length && (
            <p class="soft">
              The latest {log.length.toString()} of {pluralize(attempts, 'attempt')}.
            </p>
          )}
          {isRetriable && (status === 'pending' || status === 'dead') && (
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

function columnsOf(context: PageContext): Column<Attempt>[] {
  return [
    { title: 'Attempt', numeric: true, cell: ({ attempt }) => attempt.toString() },
    { title: 'When', cell: ({ at }) => time(context, at) },
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
    { title: 'Response', cell: Answer },
  ];
}

function Answer({ error, response }: Attempt): JSX.Element {
  const isEmpty = response === null || response === '';
  return (
    <>
      {error !== null && line(error)}
      {!isEmpty && <AgentText text={response} reading="prose" class="mono" />}
      {error === null && isEmpty && <span class="soft">empty</span>}
    </>
  );
}
