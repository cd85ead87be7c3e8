import type { JSX } from 'hono/jsx/jsx-runtime';
import { requestList } from '../../../../shared/operations/request/list.ts';
import { mayCall } from '../../../../shared/lib/scopes.ts';
import { effectiveRequestStatus } from '../../../../shared/rules/request-state.ts';
import type { RequestRow } from '../../../../shared/store/requests.ts';
import { AgentText, Time } from '../../pages/request-copy.tsx';
import type { PageContext } from '../page-context.ts';

const SHOWN_MAX = 20;

/** What agents asked people about an event, newest first; empty if the visitor can't see requests. */
export async function questionsOf(
  { access }: PageContext,
  eventId: string,
): Promise<readonly RequestRow[]> {
  if (!mayCall(access.scopes, requestList.scope)) return [];
  return access.project.store.read(({ requests }) => requests.ofEvent(eventId, SHOWN_MAX));
}

/** Links to the questions; their texts are on their own pages. */
export function Questions({
  context,
  questions,
}: {
  readonly context: PageContext;
  readonly questions: readonly RequestRow[];
}): JSX.Element | null {
  if (questions.length === 0) return null;
  return (
    <section class="card" aria-labelledby="questions">
      <h2 id="questions">What agents asked about it</h2>
      <ul class="plain">
        {questions.map((row) => (
          <li>
            <a href={context.at('requests', row.id)}>
              {row.kind === 'approval' ? 'Approval' : 'Question'}
              {row.action !== null && (
                <>
                  {' of '}
                  <AgentText text={row.action} reading="exact" class="mono" />
                </>
              )}
            </a>{' '}
            <span class="soft">
              {effectiveRequestStatus(row, context.now)}, asked at{' '}
              <Time at={Date.parse(row.created_at)} now={context.now} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
