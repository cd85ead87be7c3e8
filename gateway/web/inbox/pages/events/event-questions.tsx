import * as z from 'zod';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { effectiveRequestStatus } from '../../../../../shared/rules/requests/request-state.ts';
import type { RequestRow } from '../../../../../shared/store/tables/people/requests.ts';
import { mono, time } from '../../../ui/text.tsx';
import type { PageContext } from '../../page-context.ts';
import { pageRead } from '../../page-read.ts';

const SHOWN_MAX = 20;

const requestsAbout = pageRead('approvals', { eventId: z.string() }, ({ store }, { eventId }) =>
  store.requests.ofEvent(eventId, SHOWN_MAX),
);

/** Links to what agents asked people about an event, newest first; null if the visitor can't see requests. */
export async function questionsAbout(
  context: PageContext,
  eventId: string,
): Promise<JSX.Element | null> {
  const rows = (await context.readOrNull(requestsAbout, { eventId })) ?? [];
  if (rows.length === 0) return null;
  return (
    <section class="card" aria-labelledby="questions">
      <h2 id="questions">What agents asked about it</h2>
      <ul class="plain">{rows.map((row) => questionOf(context, row))}</ul>
    </section>
  );
}

/** Its text is on its own page. */
function questionOf(context: PageContext, row: RequestRow): JSX.Element {
  const { id, kind, action, created_at: at } = row;
  return (
    <li>
      <a href={context.at('requests', id)}>
        {kind === 'approval' ? 'Approval' : 'Question'}
        {action !== null && <> of {mono(action)}</>}
      </a>{' '}
      <span class="soft">
        {effectiveRequestStatus(row, context.now)}, asked at {time(context, at)}
      </span>
    </li>
  );
}
