import type { Child } from 'hono/jsx';
import { invalid } from '../../../../../shared/lib/errors.ts';
import { CALLBACK_URL_MAX_CHARS } from '../../../../../shared/lib/limits.ts';
import { pluralize } from '../../../../../shared/lib/pluralize.ts';
import { routeAdd } from '../../../../../shared/operations/route/add.ts';
import { routeDisable } from '../../../../../shared/operations/route/disable.ts';
import { routeEnable } from '../../../../../shared/operations/route/enable.ts';
import { routeRemove } from '../../../../../shared/operations/route/remove.ts';
import { routeRetry } from '../../../../../shared/operations/route/retry.ts';
import { routeTest } from '../../../../../shared/operations/route/test.ts';
import { SERVICE_SOURCE } from '../../../../../shared/rules/inbox/source-name.ts';
import { FactsCard, idFact, type Flash } from '../../../ui/detail.tsx';
import type { FormPage, SubmittedForm } from '../../../ui/form.tsx';
import type { Detail } from '../../../ui/item.tsx';
import { listPage } from '../../../ui/list.tsx';
import { resourcePage } from '../../../ui/resource.tsx';
import { secretPage } from '../../../ui/secret.tsx';
import { ago, exact, last, line, mono } from '../../../ui/text.tsx';
import {
  deliveriesOf,
  hostOf,
  lastAttempt,
  LOOKED_AT,
  outcomeText,
  routeOf,
  routesOf,
  routeState,
  type Route,
} from './route-queries.ts';
import { sourcesOf } from '../sources/source-queries.ts';
import type { ActionResult, PageContext, PageResult } from '../../page-context.ts';
import { Deliveries } from './deliveries.tsx';

const TYPE_MAX_CHARS = 255;

/** Where events are pushed, and whether they arrive. */
export const routesPage = resourcePage<Route>({
  path: 'routes',
  title: 'Routes',
  group: 'settings',
  setting: { section: 'Connections', about: 'Pushes matching events to a URL.' },
  scope: 'inbox:read',
  // Attempts have no topic of their own.
  topics: ['any'],
  all: 'All routes',
  list,
  form: (context) =>
    context.query('add') !== undefined && context.may(routeAdd) ? addForm(context) : null,
  find: routeOf,
  detail,
  acts: [
    {
      name: 'retry',
      text: 'Retry all now',
      note: 'pending and given up',
      needs: routeRetry,
      may: (_context, { enabled, pending, dead }) => enabled && pending + dead > 0,
      takes: ['delivery'],
      run: retry,
    },
    {
      name: 'test',
      text: 'Send a test',
      note: 'one signed sample event, not stored',
      needs: routeTest,
      run: test,
    },
    {
      name: 'disable',
      text: 'Disable',
      note: 'undelivered events go back to the inbox',
      needs: routeDisable,
      may: (_context, { enabled }) => enabled,
      run: async (context, { id }) => {
        await context.call(routeDisable, { route_id: id });
        return { to: context.at('routes', id) };
      },
    },
    {
      name: 'enable',
      text: 'Enable again',
      note: 'also resumes the events it gave back that are still pending',
      needs: routeEnable,
      may: (_context, { enabled }) => !enabled,
      run: enable,
    },
    {
      name: 'remove',
      text: 'Remove',
      needs: routeRemove,
      asks: (_context, { callback_url: url }) => ({
        heading: 'Remove this route?',
        consequences: (
          <p>
            Nothing more is sent to {exact(hostOf(url))}. Events it hasn’t delivered yet go back to
            the inbox as pending, unless another route delivers them.
          </p>
        ),
        yes: 'Yes, remove it',
      }),
      run: async (context, { id }) => {
        await context.call(routeRemove, { route_id: id });
        return null;
      },
    },
  ],
});

async function list(context: PageContext): Promise<PageResult> {
  const routes = await routesOf(context);
  const attempts = await Promise.all(
    routes.map(async ({ id }) =>
      lastAttempt((await deliveriesOf(context, id, { limit: LOOKED_AT })).items),
    ),
  );
  return listPage({
    title: 'Routes',
    lead: 'A route pushes matching events to a URL, so agents don’t pull them.',
    ways: [context.may(routeAdd) && ['add', 'Add a route']],
    rows: routes.map((route, index) => {
      const { id, callback_url: url, pending, dead, disabled_reason: reason } = route;
      const newest = attempts[index] ?? null;
      return {
        href: context.at('routes', id),
        what: mono(hostOf(url)),
        states: [routeState(route, newest)],
        meta: [
          matchText(route),
          <>by {exact(route.maker)}</>,
          newest === null
            ? 'nothing sent yet'
            : last(context, `${outcomeText(newest)},`, newest.at, ''),
          pending > 0 && `${pending} pending`,
          dead > 0 && (
            <span class="risk high">
              {pluralize(dead, 'delivery given up', 'deliveries given up')}
            </span>
          ),
          reason !== null && line(reason),
        ],
      };
    }),
    empty: 'No routes yet.',
  });
}

/** Which events a route takes. */
function matchText({ match_source: source, match_type: type }: Route): Child {
  return (
    <>
      {type === null ? 'every event' : <>events {mono(type)}</>}
      {source !== null && <> from {mono(source)}</>}
    </>
  );
}

async function addForm(context: PageContext): Promise<FormPage> {
  const names = (await sourcesOf(context)).map(({ name }) => name);
  return {
    title: 'Add a route',
    lead: 'We POST matching events to a URL, signed as Standard Webhooks, and retry for about 15 hours.',
    up: [context.at('routes'), 'All routes'],
    fields: [
      {
        name: 'callback_url',
        label: 'URL',
        max: CALLBACK_URL_MAX_CHARS,
        placeholder: 'https://example.com/hooks/svc',
        hint: 'https, on a public address. Any 2xx answer within 15 seconds counts as delivered.',
      },
      {
        kind: 'choice',
        name: 'match_source',
        label: 'Events from',
        choices: [
          ['', 'every source'],
          ...names.map((name) => [name, name] as const),
          [SERVICE_SOURCE, 'the service itself'],
        ],
      },
      {
        name: 'match_type',
        label: 'Only of this type',
        max: TYPE_MAX_CHARS,
        placeholder: 'invoice.*',
        hint: 'Optional: a type, or a prefix and *.',
      },
    ],
    button: 'Add a route',
    unread: 'Nothing was added.',
    about: { CALLBACK_URL_REJECTED: 'callback_url' },
    submit: (sent) => add(context, sent),
  };
}

async function add(context: PageContext, { value }: SubmittedForm): Promise<ActionResult> {
  const [url, source, type] = [value('callback_url'), value('match_source'), value('match_type')];
  if (url === undefined) throw invalid({ path: 'callback_url', message: 'Enter a URL.' });
  const route = await context.call(routeAdd, {
    callback_url: url,
    ...(source !== undefined && { match_source: source }),
    ...(type !== undefined && { match_type: type }),
  });
  return secretPage({
    title: 'Route added',
    note: 'Your receiver checks the signatures of deliveries with it.',
    copy: [{ name: 'secret', label: 'Signing secret', value: route.secret }],
    about: (
      <p class="soft">
        New events go to {exact(hostOf(url))} from now on. Send a test from the route’s page.
      </p>
    ),
    back: context.at('routes', route.id),
  });
}

async function retry(
  context: PageContext,
  { id }: Route,
  { value }: SubmittedForm,
): Promise<FlashResult> {
  const delivery = value('delivery');
  const input = { route_id: id, ...(delivery !== undefined && { delivery_id: delivery }) };
  const { retried, more } = await context.call(routeRetry, input);
  return told(`Retrying ${pluralize(retried, 'delivery', 'deliveries')} now.`, more);
}

async function enable(context: PageContext, { id }: Route): Promise<FlashResult> {
  const { resumed, more } = await context.call(routeEnable, { route_id: id });
  const resuming =
    resumed === 0 ? '' : ` Delivering ${pluralize(resumed, 'event')} that it gave back.`;
  return told(`It takes events again.${resuming}`, more);
}

interface FlashResult {
  readonly flash: Flash;
}

function told(text: string, more: boolean): FlashResult {
  return { flash: { text: more ? `${text} There are more: do it again.` : text } };
}

async function test(context: PageContext, { id }: Route): Promise<FlashResult> {
  const outcome = await context.call(routeTest, { route_id: id });
  const { delivered, error, response } = outcome;
  const lead = delivered ? 'The test arrived: ' : 'The test didn’t arrive: ';
  const text = `${lead}${outcomeText(outcome)}.`;
  return { flash: { text, isBad: !delivered, line: error, quote: response } };
}

async function detail(context: PageContext, route: Route): Promise<Detail> {
  const { id, callback_url: url, enabled, disabled_reason: reason, pending, dead } = route;
  const recent = await deliveriesOf(context, id, { limit: LOOKED_AT });
  return {
    title: 'Route',
    heading: exact(hostOf(url)),
    main: (
      <FactsCard
        label="About this route"
        facts={[
          ['Address', mono(url)],
          ['Takes', matchText(route)],
          ['Added', ago(context, route.created_at)],
          ['Added by', exact(route.maker)],
          idFact(id),
        ]}
      />
    ),
    side: {
      state: routeState(route, lastAttempt(recent.items)),
      lines: (
        <>
          {!enabled && <p>It takes no more events: {line(reason ?? 'no reason recorded')}</p>}
          <p class="soft">
            {pending + dead > 0
              ? `${pluralize(pending, 'delivery', 'deliveries')} pending, ${dead} given up.`
              : 'Nothing pending, nothing given up.'}
          </p>
        </>
      ),
    },
    below: await Deliveries({ context, route, isRetriable: context.may(routeRetry) && enabled }),
  };
}
