import type { JSX } from 'hono/jsx/jsx-runtime';
import { routeDisable } from '../../../../shared/operations/route/disable.ts';
import { routeEnable } from '../../../../shared/operations/route/enable.ts';
import { routeRemove } from '../../../../shared/operations/route/remove.ts';
import { routeRetry } from '../../../../shared/operations/route/retry.ts';
import { routeTest } from '../../../../shared/operations/route/test.ts';
import { mayCall } from '../../../../shared/lib/scopes.ts';
import { Icon } from '../../pages/icons.tsx';
import { AgentText, Ago } from '../../pages/request-copy.tsx';
import { Chip, Fact, Filters, Form, Nothing, Pager, Problem, UpLink } from '../parts.tsx';
import { confirm } from '../confirm.tsx';
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
import { openFlash, sealFlash } from '../flash.ts';
import type { ActionResult, PageResult, FormError, PageContext } from '../page-context.ts';
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

/** The result that a form of this page passes to the next view. */
type Told =
  | { readonly kind: 'retried'; readonly retried: number; readonly more: boolean }
  | { readonly kind: 'enabled'; readonly resumed: number; readonly more: boolean }
  | ({ readonly kind: 'tested'; readonly delivered: boolean } & Outcome);

/** One route: its deliveries, their state, and the possible actions. */
export async function showRoute(context: PageContext, id: string): Promise<PageResult> {
  const route = await routeOf(context, id);
  return context.query('step') === 'remove' && mayChange(context)
    ? askToRemove(context, route)
    : shown(context, route);
}

export async function actOnRoute(context: PageContext, body: string): Promise<ActionResult> {
  const { id } = context;
  if (id === null) return { to: context.at('routes') };
  const route = await routeOf(context, id);
  const form = fieldsOf(body, ['act', 'delivery']);
  const act = ACTS.get(form?.act ?? '');
  if (!form || !act) {
    return shown(context, route, {
      status: 400,
      problem: 'We couldn’t read the form. Nothing was done.',
    });
  }
  try {
    return await act(context, id, form.delivery);
  } catch (error) {
    const { status, text } = refusalOf(error, []);
    return shown(context, route, { status, problem: text });
  }
}

type Act = (
  context: PageContext,
  id: string,
  delivery: string | undefined,
) => Promise<ActionResult>;

const ACTS: ReadonlyMap<string, Act> = new Map<string, Act>([
  [
    'retry',
    async (context, id, delivery) => {
      const input = { route_id: id, ...(delivery !== undefined && { delivery_id: delivery }) };
      const { retried, more } = (await context.call(routeRetry, input)) as {
        retried: number;
        more: boolean;
      };
      return tell(context, id, { kind: 'retried', retried, more });
    },
  ],
  [
    'test',
    async (context, id) => {
      const { delivered, status_code, duration_ms, error, response } = (await context.call(
        routeTest,
        { route_id: id },
      )) as Outcome & { delivered: boolean };
      const outcome = { delivered, status_code, duration_ms, error, response };
      return tell(context, id, { kind: 'tested', ...outcome });
    },
  ],
  [
    'enable',
    async (context, id) => {
      const { resumed, more } = (await context.call(routeEnable, { route_id: id })) as {
        resumed: number;
        more: boolean;
      };
      return tell(context, id, { kind: 'enabled', resumed, more });
    },
  ],
  [
    'disable',
    async (context, id) => {
      await context.call(routeDisable, { route_id: id });
      return { to: context.at('routes', id) };
    },
  ],
  [
    'remove',
    async (context, id) => {
      await context.call(routeRemove, { route_id: id });
      return { to: context.at('routes') };
    },
  ],
]);

function tell(context: PageContext, id: string, flash: Told): ActionResult {
  return { to: `${context.at('routes', id)}?told=${sealFlash(context, id, flash)}` };
}

function mayChange({ access }: PageContext): boolean {
  return mayCall(access.scopes, routeRemove.scope);
}

function askToRemove(context: PageContext, { id, callback_url: url }: Route): PageResult {
  return confirm(context, {
    heading: 'Remove this route?',
    back: context.at('routes', id),
    consequences: (
      <p>
        Nothing more is sent to <AgentText text={hostOf(url)} reading="exact" />. Events it hasn’t
        delivered yet go back to the inbox as pending, unless another route delivers them.
      </p>
    ),
    act: 'remove',
    yes: 'Yes, remove it',
  });
}

async function shown(
  context: PageContext,
  route: Route,
  { status: code = 200, problem = null }: FormError = {},
): Promise<PageResult> {
  const status = DELIVERY_STATUSES.find((one) => one === context.query('status')) ?? null;
  const cursor = context.query('cursor');
  const { items, next_cursor: next } = await deliveriesOf(context, route.id, {
    limit: LIST_LENGTH,
    ...(status !== null && { status }),
    ...(cursor !== undefined && { cursor }),
  });
  const newest = status === null && cursor === undefined;
  const recent = newest
    ? items
    : (await deliveriesOf(context, route.id, { limit: LOOKED_AT })).items;
  const isRetriable = mayChange(context) && route.enabled;
  const content = (
    <>
      <UpLink href={context.at('routes')} whole>
        All routes
      </UpLink>
      <div class="stack">
        <h1>
          <AgentText text={hostOf(route.callback_url)} reading="exact" />
        </h1>
        <Problem text={problem} />
        <FlashNote flash={openFlash(context, route.id) as Told | null} />
        <About context={context} route={route} />
      </div>
      <StatusCard context={context} route={route} state={routeState(route, lastAttempt(recent))} />
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
    </>
  );
  return { title: 'Route', content, status: code, wide: true };
}

/** Which events a route takes. */
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

function About({
  context,
  route,
}: {
  readonly context: PageContext;
  readonly route: Route;
}): JSX.Element {
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
          <Ago at={Date.parse(route.created_at)} now={context.now} />
        </Fact>
        <Fact name="Id">
          <span class="exact mono">{route.id}</span>
        </Fact>
      </dl>
    </section>
  );
}

function StatusCard({
  context,
  route,
  state: [text, tone],
}: {
  readonly context: PageContext;
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
          <AgentText text={reason ?? 'no reason recorded'} reading="line" />
        </p>
      )}
      <p class="soft">
        {isOpen
          ? `${pluralize(pending, 'delivery', 'deliveries')} pending, ${dead} given up.`
          : 'Nothing pending, nothing given up.'}
      </p>
      {mayChange(context) && (
        <>
          <Form context={context}>
            {enabled && isOpen && (
              <button class="btn" name="act" value="retry">
                Retry all now
                <small>pending and given up</small>
              </button>
            )}
            <button class="btn" name="act" value="test">
              Send a test
              <small>one signed sample event, not stored</small>
            </button>
            {enabled ? (
              <button class="btn" name="act" value="disable">
                Disable
                <small>undelivered events go back to the inbox</small>
              </button>
            ) : (
              <button class="btn" name="act" value="enable">
                Enable again
                <small>also resumes the events it gave back that are still pending</small>
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

/** Says what is being delivered again. */
function dueText(flash: Exclude<Told, { kind: 'tested' }>): string {
  if (flash.kind === 'retried') {
    return `Retrying ${pluralize(flash.retried, 'delivery', 'deliveries')} now.`;
  }
  const { resumed } = flash;
  if (resumed === 0) return 'It takes events again.';
  return `It takes events again. Delivering ${pluralize(resumed, 'event')} that it gave back.`;
}

/** The result of the last action. */
function FlashNote({ flash }: { readonly flash: Told | null }): JSX.Element | null {
  if (flash === null) return null;
  if (flash.kind !== 'tested') {
    return (
      <div class="note good" role="status">
        <Icon name="yes" />
        <p>
          {dueText(flash)}
          {flash.more && ' There are more: do it again.'}
        </p>
      </div>
    );
  }
  return (
    <div class={flash.delivered ? 'note good' : 'note warn'} role="status">
      <Icon name={flash.delivered ? 'yes' : 'warn'} />
      <div>
        <p>
          {flash.delivered ? 'The test arrived: ' : 'The test didn’t arrive: '}
          {outcomeText(flash)}.
        </p>
        {flash.error !== null && (
          <p>
            <AgentText text={flash.error} reading="line" />
          </p>
        )}
        {flash.response !== null && flash.response !== '' && (
          <p class="quote">
            <AgentText text={flash.response} reading="prose" class="mono" />
          </p>
        )}
      </div>
    </div>
  );
}
