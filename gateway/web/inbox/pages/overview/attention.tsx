import type { JSX } from 'hono/jsx/jsx-runtime';
import { pluralize } from '../../../../../shared/lib/pluralize.ts';
import { requestList } from '../../../../../shared/operations/request/list.ts';
import { usage } from '../../../../../shared/operations/usage.ts';
import type { Repositories } from '../../../../../shared/store/repositories.ts';
import type { RouteRow } from '../../../../../shared/store/tables/inbox/routes.ts';
import { digitsOf } from '../../../ui/number.ts';
import { lengthOfTime } from '../../../ui/time.ts';
import { hostOf } from '../routes/route-queries.ts';
import { ListRows, type ListRow } from '../../../ui/list.tsx';
import { line, mono } from '../../../ui/text.tsx';
import type { PageContext } from '../../page-context.ts';
import { pageRead } from '../../page-read.ts';
import { NEAR } from '../project/usage.tsx';

/** Requests beyond these are only counted. */
const REQUESTS_SHOWN = 3;
const COUNTED_MAX = 50;
/** So many dead events count as this many and more. */
const DEAD_MAX = 1000;
/** So many deliveries of a route that were given up count as this many and more. */
const GIVEN_UP_MAX = 100;
/** Requests that expire this soon are highlighted. */
const URGENT_MS = 3_600_000;

/** Everything that needs attention and that the visitor's scopes let them see, the most urgent first. */
export async function attentionOf(context: PageContext): Promise<ListRow[]> {
  return [
    ...(context.may(requestList) ? await waitingRequests(context) : []),
    ...(await stuckEvents(context)),
    ...awayServices(context),
    ...(await quotas(context)),
  ];
}

export function Attention({
  context,
  found,
}: {
  readonly context: PageContext;
  readonly found: readonly ListRow[];
}): JSX.Element {
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      <ListRows
        label="Needs attention"
        rows={found}
        empty={
          <>Nothing needs you. {context.may(requestList) && 'Requests appear here on their own.'}</>
        }
      />
    </section>
  );
}

async function waitingRequests(context: PageContext): Promise<ListRow[]> {
  const { items } = await context.call(requestList, {
    status: 'pending',
    limit: COUNTED_MAX,
  });
  const soonest = items
    .toReversed()
    .toSorted((a, b) => Date.parse(a.expires_at) - Date.parse(b.expires_at));
  const shown = soonest.slice(0, REQUESTS_SHOWN).map((request): ListRow => {
    const left = Date.parse(request.expires_at) - context.now;
    const by = request.requested_by.agent;
    return {
      href: context.at('requests', request.request_id),
      what: line(request.summary || (request.question ?? '')),
      states: [[`${lengthOfTime(left)} left`, left < URGENT_MS ? 'warn' : 'calm']],
      meta: [
        'Waits for a decision',
        request.risk === 'high' && <span class="risk high">high risk</span>,
        by === null ? 'an agent' : line(by),
      ],
    };
  });
  const rest = items.length - shown.length;
  if (rest <= 0) return shown;
  const what = `${pluralize(rest, 'more request waits', 'more requests wait')} for a decision`;
  return [...shown, { href: context.at('requests'), what, states: [['Waiting', 'calm']] }];
}

const stuckInInbox = pageRead('inbox:read', {}, async ({ store, now }) => ({
  dead: await store.activity.dead(DEAD_MAX),
  setAside: await store.mailCopies.setAside(DEAD_MAX),
  routes: await stuckRoutes(store, now),
}));

async function stuckEvents(context: PageContext): Promise<ListRow[]> {
  const found = await context.readOrNull(stuckInInbox, {});
  if (found === null) return [];
  const { dead, setAside, routes } = found;
  const stuck = [
    ...(setAside === 0 ? [] : [mailsSetAside(context, setAside)]),
    ...routes.map((route) => stuckRoute(context, route)),
  ];
  if (dead === setAside) return stuck;
  const many =
    dead === DEAD_MAX ? `${digitsOf(dead)} or more events` : pluralize(dead - setAside, 'event');
  const first: ListRow = {
    href: `${context.at('events')}?status=dead`,
    what: `${many} failed for good`,
    states: [['Dead', 'bad']],
    meta: ['No agent gets them until someone requeues them.'],
  };
  return [first, ...stuck];
}

/** Some senders give the same Message-ID to mail after mail. */
function mailsSetAside(context: PageContext, count: number): ListRow {
  const rest = count === DEAD_MAX ? ' or more' : '';
  return {
    href: `${context.at('events')}?status=dead&type=email.received`,
    what: `${digitsOf(count)}${rest} ${count === 1 ? 'mail has' : 'mails have'} the Message-ID of another one`,
    states: [['Set aside', 'warn']],
    meta: ['No agent gets them until someone requeues them.'],
  };
}

interface StuckRoute {
  readonly route: RouteRow;
  /** How many deliveries it gave up that can be sent again. */
  readonly givenUp: number;
}

/** The routes that are disabled, or that gave up deliveries. */
async function stuckRoutes(store: Repositories, now: number): Promise<StuckRoute[]> {
  const all: StuckRoute[] = [];
  for (const route of await store.routes.list()) {
    const givenUp = (await store.deliveries.revivable(route.id, now, GIVEN_UP_MAX)).length;
    if (route.enabled === 0 || givenUp > 0) all.push({ route, givenUp });
  }
  return all;
}

function stuckRoute(
  context: PageContext,
  { route: { id, callback_url: url, enabled, disabled_reason: reason }, givenUp }: StuckRoute,
): ListRow {
  const href = context.at('routes', id);
  const what = <>Route to {mono(hostOf(url))}</>;
  if (enabled === 0) {
    const meta = reason === null ? [] : [line(reason)];
    return { href, what, states: [['Disabled', 'bad']], meta };
  }
  const many = givenUp === GIVEN_UP_MAX ? `${givenUp} or more` : givenUp.toString();
  const meta = ['Its receiver didn’t take them. You can send them again.'];
  return { href, what, states: [[`${many} given up`, 'bad']], meta };
}

/** The bot and the mailbox belong to the gateway; why one is away is for its operator to read. */
function awayServices(context: PageContext): ListRow[] {
  const { bot, mailbox } = context.inbox.health();
  const of = (what: string, more: string): ListRow => ({
    href: context.at('channels'),
    what,
    states: [['Away', 'bad']],
    meta: [more],
  });
  return [
    ...(bot === false
      ? [of('The Telegram bot', 'People get no messages in Telegram until it’s back.')]
      : []),
    ...(mailbox === false
      ? [of('The mailbox', 'Mail isn’t read until it’s back. None is lost.')]
      : []),
  ];
}

async function quotas(context: PageContext): Promise<ListRow[]> {
  const { disk, keys, transfer, emails, events } = await context.call(usage, {});
  const href = context.at('usage');
  const shares: readonly (readonly [name: string, used: number, limit: number | null])[] = [
    ['Disk', disk.used_bytes, disk.limit_bytes],
    ['Keys on the disk', keys.used, keys.limit],
    ['Downloads this month', transfer.used_bytes, transfer.limit_bytes],
    ['Mail today', emails.today, emails.day_limit],
    ['Mail this month', emails.this_month, emails.month_limit],
    ['Stored events', events.stored_bytes, events.limit_bytes],
  ];
  const near = shares.flatMap(([what, used, limit]): ListRow[] => {
    const part = limit === null ? 0 : used / limit;
    if (part < NEAR) return [];
    const text = `${Math.floor(part * 100)} % used`;
    return [{ href, what, states: [[text, part >= 1 ? 'bad' : 'warn']] }];
  });
  const limited = events.sources
    .filter(({ limited: why }) => why !== null)
    .map(({ name }): ListRow => ({
      href,
      what: <>Source {mono(name)}</>,
      states: [['At its limit', 'warn']],
      meta: ['Its senders must wait.'],
    }));
  const blocked: ListRow[] =
    emails.blocked === null
      ? []
      : [{ href, what: 'This project can’t send email', states: [['Blocked', 'bad']] }];
  return [...blocked, ...near, ...limited];
}
