import type { JSX } from 'hono/jsx/jsx-runtime';
import { IDLE_MS } from '../../../shared/rules/requests/outcome.ts';
import type { OpenedRequest } from '../../approvals/approvals.ts';
import { Icon } from '../ui/icons.tsx';
import { AgentText, Ago } from './request-copy.tsx';
import { lengthOfTime } from '../ui/time.ts';

/** What became of the event after the decision. */
export function OutcomeNote({ opened }: { readonly opened: OpenedRequest }): JSX.Element | null {
  const { request, now } = opened;
  const { outcome } = request;
  if (outcome === null) return null;
  if (outcome.kind === 'idle') {
    return (
      <div class="note warn">
        <Icon name="time" />
        <p>
          <strong>
            {outcome.tried
              ? `Not done after ${lengthOfTime(IDLE_MS)}`
              : `Not taken up for ${lengthOfTime(IDLE_MS)}`}
          </strong>
          . The event waits for an agent.
        </p>
      </div>
    );
  }
  const isNo = request.status === 'denied' || request.status === 'needs_context';
  const done = isNo ? 'Closed' : 'Done';
  return (
    <div class={outcome.kind === 'done' ? 'note' : 'note warn'}>
      <Icon name={outcome.kind === 'done' ? 'yes' : 'warn'} />
      <div>
        <p>
          <strong>{outcome.kind === 'done' ? done : 'Not done: the agent gave up'}</strong>,{' '}
          <Ago at={outcome.at} now={now} />
        </p>
        {outcome.words !== null && (
          <p class="quote">
            <AgentText text={outcome.words} reading="line" />
          </p>
        )}
      </div>
    </div>
  );
}
