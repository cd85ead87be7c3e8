import type { JSX } from 'hono/jsx/jsx-runtime';
import { AgentText } from '../../pages/request-copy.tsx';
import { Age } from '../event-copy.tsx';
import { Chip, Heading, Nothing, Row, Rows } from '../parts.tsx';
import {
  deliveriesOf,
  hostOf,
  lastAttempt,
  LOOKED_AT,
  outcomeText,
  routesOf,
  routeState,
  type Attempt,
  type Route,
} from '../route-queries.ts';
import type { PageResult, UiPage, PageContext } from '../page-context.ts';
import { actOnRoute, Matches, showRoute } from './route.tsx';
import { pluralize } from '../../../../shared/lib/pluralize.ts';

/** Where events are pushed, and whether they arrive. */
export const routesPage: UiPage = {
  path: 'routes',
  title: 'Routes',
  group: 'settings',
  setting: { section: 'Connections', about: 'Pushes matching events to a URL.' },
  scope: 'inbox:read',
  // Attempts have no topic of their own.
  topics: ['any'],
  show: (context) => (context.id === null ? showList(context) : showRoute(context, context.id)),
  act: actOnRoute,
};

async function showList(context: PageContext): Promise<PageResult> {
  const routes = await Promise.all(
    (await routesOf(context)).map(async (route) => ({
      route,
      last: lastAttempt((await deliveriesOf(context, route.id, { limit: LOOKED_AT })).items),
    })),
  );
  const content = (
    <>
      <Heading
        title="Routes"
        lead="A route pushes matching events to a URL, so agents don’t pull them."
      />
      {routes.length === 0 ? (
        <Nothing>
          No routes yet. To add one: <code class="mono">svc route add URL</code>
        </Nothing>
      ) : (
        <Rows label="Routes">
          {routes.map(({ route, last }) => (
            <RouteRow context={context} route={route} last={last} />
          ))}
        </Rows>
      )}
    </>
  );
  return { title: 'Routes', content };
}

function RouteRow({
  context,
  route,
  last,
}: {
  readonly context: PageContext;
  readonly route: Route;
  readonly last: Attempt | null;
}): JSX.Element {
  const [text, tone] = routeState(route, last);
  return (
    <Row href={context.at('routes', route.id)}>
      <AgentText text={hostOf(route.callback_url)} reading="exact" class="what mono" />
      <Chip text={text} tone={tone} />
      <span class="meta">
        <Matches route={route} />
        {' · '}
        {last === null ? (
          'nothing sent yet'
        ) : (
          <>
            {outcomeText(last)}, <Age at={last.at} now={context.now} />
          </>
        )}
        {route.pending > 0 && ` · ${route.pending} pending`}
        {route.dead > 0 && (
          <>
            {' · '}
            <span class="risk high">
              {pluralize(route.dead, 'delivery given up', 'deliveries given up')}
            </span>
          </>
        )}
        {route.disabled_reason !== null && (
          <>
            {' · '}
            <AgentText text={route.disabled_reason} reading="line" />
          </>
        )}
      </span>
    </Row>
  );
}
