import type { JSX } from 'hono/jsx/jsx-runtime';
import { routeDisable } from '../../../../shared/operations/route/disable.ts';
import { routeEnable } from '../../../../shared/operations/route/enable.ts';
import { routeRemove } from '../../../../shared/operations/route/remove.ts';
import { routeRetry } from '../../../../shared/operations/route/retry.ts';
import { routeTest } from '../../../../shared/operations/route/test.ts';
import { mayCall } from '../../../../shared/lib/scopes.ts';
import { Icon } from '../../pages/icons.tsx';
import { AgentText, Ago } from '../../pages/request-copy.tsx';
import { Chip, Fact, Filters, Form, Nothing, Pager, Problem } from '../parts.tsx';
import { really } from '../really.tsx';
import { fieldsOf, refusalOf } from '../refusal.ts';
import {
  deliveriesOf,
  DELIVERY_STATUSES,
  hostOf,
  lastAttempt,
  LOOKED_AT,
  outcomeText,
  routeOf,
  routeState,
  type Outcome,
  type Route,
} from '../route-queries.ts';
import { openTold, sealTold } from '../told.ts';
import type { Acted, Shown, Trouble, Visit } from '../visit.ts';
import { DeliveryCard } from './delivery.tsx';
import { pluralize } from '../../../../shared/lib/pluralize.ts';

const LIST_LENGTH = 20;

const FILTERS = [
  [null, 'All'],
  ['pending', 'Pending'],
  ['delivered', 'Delivered'],
  ['dead', 'Given up'],
  ['cancelled', 'Cancelled'],
] as const;

/** What a form of this page leaves for the next look. */
type Told =
  | { readonly kind: 'retried'; readonly retried: number; readonly more: boolean }
  | { readonly kind: 'enabled'; readonly resumed: number; readonly more: boolean }
  | ({ readonly kind: 'tested'; readonly delivered: boolean } & Outcome);

/** One route: what it delivered and how that went, with what can be done about it. */
export async function showRoute(visit: Visit, id: string): Promise<Shown> {
  const route = await routeOf(visit, id);
  return visit.query('step') === 'remove' && mayChange(visit)
    ? askToRemove(visit, route)
    : shown(visit, route);
}

export async function actOnRoute(visit: Visit, body: string): Promise<Acted> {
  const { id } = visit;
  if (id === null) return { to: visit.at('routes') };
  const route = await routeOf(visit, id);
  const form = fieldsOf(body, ['act', 'delivery']);
  const act = ACTS.get(form?.act ?? '');
  if (!form || !act) {
    return shown(visit, route, {
      status: 400,
      problem: 'The form was not clear. Nothing was done.',
    });
  }
  try {
    return await act(visit, id, form.delivery);
  } catch (error) {
    const { status, text } = refusalOf(error, []);
    return shown(visit, route, { status, problem: text });
  }
}

type Act = (visit: Visit, id: string, delivery: string | undefined) => Promise<Acted>;

const ACTS: ReadonlyMap<string, Act> = new Map<string, Act>([
  [
    'retry',
    async (visit, id, delivery) => {
      const input = { route_id: id, ...(delivery !== undefined && { delivery_id: delivery }) };
      const { retried, more } = (await visit.call(routeRetry, input)) as {
        retried: number;
        more: boolean;
      };
      return tell(visit, id, { kind: 'retried', retried, more });
    },
  ],
  [
    'test',
    async (visit, id) => {
      const { delivered, status_code, duration_ms, error, response } = (await visit.call(
        routeTest,
        { route_id: id },
      )) as Outcome & { delivered: boolean };
      const outcome = { delivered, status_code, duration_ms, error, response };
      return tell(visit, id, { kind: 'tested', ...outcome });
    },
  ],
  [
    'enable',
    async (visit, id) => {
      const { resumed, more } = (await visit.call(routeEnable, { route_id: id })) as {
        resumed: number;
        more: boolean;
      };
      return tell(visit, id, { kind: 'enabled', resumed, more });
    },
  ],
  [
    'disable',
    async (visit, id) => {
      await visit.call(routeDisable, { route_id: id });
      return { to: visit.at('routes', id) };
    },
  ],
  [
    'remove',
    async (visit, id) => {
      await visit.call(routeRemove, { route_id: id });
      return { to: visit.at('routes') };
    },
  ],
]);

function tell(visit: Visit, id: string, told: Told): Acted {
  return { to: `${visit.at('routes', id)}?told=${sealTold(visit, id, told)}` };
}

function mayChange({ access }: Visit): boolean {
  return mayCall(access.scopes, routeRemove.scope);
}

function askToRemove(visit: Visit, { id, callback_url: url }: Route): Shown {
  return really(visit, {
    heading: 'Remove this route?',
    back: visit.at('routes', id),
    consequences: (
      <p>
        Nothing is sent to <AgentText text={hostOf(url)} reading="exact" /> any more. Events it has
        not delivered yet are pending in the inbox again, unless another route delivers them.
      </p>
    ),
    act: 'remove',
    yes: 'Yes, remove it',
  });
}

async function shown(
  visit: Visit,
  route: Route,
  { status: code = 200, problem = null }: Trouble = {},
): Promise<Shown> {
  const status = DELIVERY_STATUSES.find((one) => one === visit.query('status')) ?? null;
  const cursor = visit.query('cursor');
  const { items, next_cursor: next } = await deliveriesOf(visit, route.id, {
    limit: LIST_LENGTH,
    ...(status !== null && { status }),
    ...(cursor !== undefined && { cursor }),
  });
  const newest = status === null && cursor === undefined;
  const recent = newest ? items : (await deliveriesOf(visit, route.id, { limit: LOOKED_AT })).items;
  const isRetriable = mayChange(visit) && route.enabled;
  const content = (
    <>
      <p class="whole">
        <a class="up" href={visit.at('routes')} data-up>
          ← All routes
        </a>
      </p>
      <div class="stack">
        <h1>
          <AgentText text={hostOf(route.callback_url)} reading="exact" />
        </h1>
        <Problem text={problem} />
        <ToldNote told={openTold(visit, route.id) as Told | null} />
        <About visit={visit} route={route} />
      </div>
      <StatusCard visit={visit} route={route} state={routeState(route, lastAttempt(recent))} />
      <section class="about" aria-labelledby="deliveries">
        <div class="listhead">
          <h2 id="deliveries">Deliveries of the last 30 days</h2>
          <Filters label="Which ones" name="status" choices={FILTERS} chosen={status} />
        </div>
        {items.length === 0 ? (
          <Nothing>Nothing here.</Nothing>
        ) : (
          <ul class="rows folded">
            {items.map((delivery) => (
              <DeliveryCard visit={visit} delivery={delivery} isRetriable={isRetriable} />
            ))}
          </ul>
        )}
        <Pager visit={visit} next={next} keep={['status']} />
      </section>
    </>
  );
  return { title: 'Route', content, status: code, wide: true };
}

/** Which events go along a route. */
export function Matches({ route }: { readonly route: Route }): JSX.Element {
  const { match_source: source, match_type: type } = route;
  if (source === null && type === null) return <>every event</>;
  return (
    <>
      {type === null ? (
        'every event'
      ) : (
        <>
          events <AgentText text={type} reading="exact" class="mono" />
        </>
      )}
      {source !== null && (
        <>
          {' from '}
          <AgentText text={source} reading="exact" class="mono" />
        </>
      )}
    </>
  );
}

function About({ visit, route }: { readonly visit: Visit; readonly route: Route }): JSX.Element {
  return (
    <section class="card" aria-label="About this route">
      <dl class="facts">
        <Fact name="Address">
          <AgentText text={route.callback_url} reading="exact" class="mono" />
        </Fact>
        <Fact name="Takes">
          <Matches route={route} />
        </Fact>
        <Fact name="Added">
          <Ago at={Date.parse(route.created_at)} now={visit.now} />
        </Fact>
        <Fact name="Id">
          <span class="exact mono">{route.id}</span>
        </Fact>
      </dl>
    </section>
  );
}

function StatusCard({
  visit,
  route,
  state: [text, tone],
}: {
  readonly visit: Visit;
  readonly route: Route;
  readonly state: ReturnType<typeof routeState>;
}): JSX.Element {
  const { enabled, disabled_reason: reason, pending, dead } = route;
  const isOpen = pending + dead > 0;
  return (
    <section class="act card stack" aria-labelledby="standing">
      <h2 id="standing" class="headed">
        State <Chip text={text} tone={tone} />
      </h2>
      {!enabled && (
        <p>
          It takes no more events:{' '}
          <AgentText text={reason ?? 'no reason was kept'} reading="line" />
        </p>
      )}
      <p class="soft">
        {isOpen
          ? `${pluralize(pending, 'delivery', 'deliveries')} pending, ${dead} given up.`
          : 'Nothing is pending, and nothing was given up.'}
      </p>
      {mayChange(visit) && (
        <>
          <Form visit={visit}>
            {enabled && isOpen && (
              <button class="btn" name="act" value="retry">
                Try all again now
                <small>those pending, and those given up</small>
              </button>
            )}
            <button class="btn" name="act" value="test">
              Send a test
              <small>one signed sample event, not kept</small>
            </button>
            {enabled ? (
              <button class="btn" name="act" value="disable">
                Disable
                <small>what it has not delivered goes back to the inbox</small>
              </button>
            ) : (
              <button class="btn" name="act" value="enable">
                Enable again
                <small>with the events it gave back that are still pending</small>
              </button>
            )}
          </Form>
          <a class="btn small no" href="?step=remove">
            Remove…
          </a>
        </>
      )}
    </section>
  );
}

/** What is on its way again. */
function dueText(told: Exclude<Told, { kind: 'tested' }>): string {
  if (told.kind === 'retried') {
    return `${pluralize(told.retried, 'delivery is', 'deliveries are')} tried again now.`;
  }
  const { resumed } = told;
  if (resumed === 0) return 'It takes events again.';
  const what = pluralize(resumed, 'event that it gave back is', 'events that it gave back are');
  return `It takes events again. ${what} delivered now.`;
}

/** How what was just done went. */
function ToldNote({ told }: { readonly told: Told | null }): JSX.Element | null {
  if (told === null) return null;
  if (told.kind !== 'tested') {
    return (
      <div class="note good" role="status">
        <Icon name="yes" />
        <p>
          {dueText(told)}
          {told.more && ' There are more: do it once again.'}
        </p>
      </div>
    );
  }
  return (
    <div class={told.delivered ? 'note good' : 'note warn'} role="status">
      <Icon name={told.delivered ? 'yes' : 'warn'} />
      <div>
        <p>
          {told.delivered ? 'The test arrived: ' : 'The test did not arrive: '}
          {outcomeText(told)}.
        </p>
        {told.error !== null && (
          <p>
            <AgentText text={told.error} reading="line" />
          </p>
        )}
        {told.response !== null && told.response !== '' && (
          <p class="quote">
            <AgentText text={told.response} reading="prose" class="mono" />
          </p>
        )}
      </div>
    </div>
  );
}
