import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { AgentText } from '../../../pages/request-copy.tsx';
import { lengthOfTime } from '../../../ui/time.ts';
import type { Step, Timeline } from './event-timeline.ts';
import { dotted, line, mono, time } from '../../../ui/text.tsx';
import type { PageContext } from '../../page-context.ts';

const OPS = new Map([
  ['event.received', 'Received'],
  ['inbox_claim', 'Claimed'],
  ['inbox_next', 'Claimed'],
  ['event.claimed', 'Claimed with others'],
  ['inbox_extend', 'Lease extended'],
  ['inbox_ack', 'Done'],
  ['request_received', 'Done: the agent that asked has the answer'],
  ['inbox_nack', 'Given back'],
  ['inbox_requeue', 'Requeued'],
  ['inbox_replay', 'Replayed'],
  ['event.replayed', 'Replayed with others'],
  ['event.retried', 'Pending again after a pause'],
  ['event.parked', 'Parked until an answer comes'],
  ['event.resumed', 'Pending again after an answer'],
  ['event.released', 'Lease released by a person'],
  ['event.finished', 'Marked as done by a person'],
  ['event.discarded', 'Discarded by a person'],
  ['lease.expired', 'Lease expired'],
  ['delivery.dead', 'A route gave up'],
]);

const DONE: ReadonlySet<string> = new Set(['inbox_ack', 'request_received', 'event.finished']);

/** Everything that happened to an event, oldest first, with the time between. */
export function historyOf(
  context: PageContext,
  { steps, isCut }: Timeline,
  eventId: string,
): JSX.Element | null {
  if (steps.length === 0) return null;
  const all = `${context.at('ledger')}?${new URLSearchParams({ subject: eventId }).toString()}`;
  return (
    <section aria-labelledby="history">
      <h2 id="history">History</h2>
      {isCut && (
        <p class="soft">
          <a href={all}>Earlier entries in the ledger</a>
        </p>
      )}
      <ol class="timeline">
        {steps.map((step, index) => (
          <li class={toneOf(step)}>
            <p class="soft">
              {time(context, step.at)}
              {gapText(step.at - (steps[index - 1]?.at ?? step.at))}
            </p>
            <div>{step.kind === 'entry' ? entryOf(context, step) : attemptOf(context, step)}</div>
          </li>
        ))}
      </ol>
    </section>
  );
}

function toneOf(step: Step): string {
  if (step.kind === 'attempt') return isAccepted(step) ? 'good' : 'bad';
  const { op, outcome } = step.entry;
  if (outcome === 'error' || op === 'delivery.dead') return 'bad';
  return DONE.has(op) ? 'good' : '';
}

/** How long after the step before; nothing below a tenth of a second. */
function gapText(ms: number): string {
  if (ms < 100) return '';
  return ms < 10_000 ? ` · ${(ms / 1000).toFixed(1)} s later` : ` · ${lengthOfTime(ms)} later`;
}

type EntryStep = Extract<Step, { kind: 'entry' }>;

function entryOf(context: PageContext, { entry, by }: EntryStep): Child {
  const { op, outcome, code, seq } = entry;
  return (
    <>
      <p>
        {OPS.get(op) ?? mono(op)}
        {outcome === 'error' && <span class="risk high"> refused: {code}</span>}
      </p>
      <p class="soft">
        {line(by)} · <a href={context.at('ledger', String(seq))}>Entry {seq}</a>
      </p>
    </>
  );
}

type AttemptStep = Extract<Step, { kind: 'attempt' }>;

function isAccepted({ attempt: { status_code: code } }: AttemptStep): boolean {
  return code !== null && code >= 200 && code < 300;
}

function attemptOf(context: PageContext, step: AttemptStep): Child {
  const { attempt, delivery, host } = step;
  const { status_code: code, duration_ms: ms, error, response } = attempt;
  return (
    <>
      <p>
        {isAccepted(step) ? 'Delivered to ' : 'Delivery failed: '}
        {mono(host)}
      </p>
      <p class="soft">
        {dotted([
          `Attempt ${attempt.attempt}`,
          `${code ?? 'no answer'} in ${ms} ms`,
          delivery.route_id !== null && <a href={context.at('routes', delivery.route_id)}>Route</a>,
        ])}
      </p>
      {error !== null && line(error, 'soft')}
      {response !== null && response !== '' && (
        <details>
          <summary>Answer</summary>
          <AgentText text={response} reading="prose" class="mono code" />
        </details>
      )}
    </>
  );
}
