import type { JSX } from 'hono/jsx/jsx-runtime';
import type { LedgerEntry } from '../../../../shared/rules/ledger-chain.ts';
import { AgentText, Time } from '../../pages/request-copy.tsx';
import { lengthOfTime } from '../../pages/time.ts';
import type { Step, Timeline } from '../event-timeline.ts';
import type { PageContext } from '../page-context.ts';

const OPS = new Map([
  ['event.received', 'Received'],
  ['inbox_claim', 'Claimed'],
  ['inbox_next', 'Claimed'],
  ['event.claimed', 'Claimed with others'],
  ['inbox_extend', 'Lease extended'],
  ['inbox_ack', 'Done'],
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

/** Everything that happened to an event, oldest first, with the time between. */
export function History({
  context,
  timeline: { steps, isCut },
  eventId,
}: {
  readonly context: PageContext;
  readonly timeline: Timeline;
  readonly eventId: string;
}): JSX.Element | null {
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
              <Time at={step.at} now={context.now} />
              {gapText(step.at - (steps[index - 1]?.at ?? step.at))}
            </p>
            <div>
              {step.kind === 'entry' ? (
                <Entry context={context} step={step} />
              ) : (
                <Attempt context={context} step={step} />
              )}
            </div>
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
  return op === 'inbox_ack' || op === 'event.finished' ? 'good' : '';
}

/** How long after the step before; nothing below a tenth of a second. */
function gapText(ms: number): string {
  if (ms < 100) return '';
  return ms < 10_000 ? ` · ${(ms / 1000).toFixed(1)} s later` : ` · ${lengthOfTime(ms)} later`;
}

type EntryStep = Extract<Step, { kind: 'entry' }>;

function Entry({
  context,
  step: { entry, name },
}: {
  readonly context: PageContext;
  readonly step: EntryStep;
}): JSX.Element {
  const { op, outcome, code, seq } = entry;
  return (
    <>
      <p>
        {OPS.get(op) ?? <AgentText text={op} reading="exact" class="mono" />}
        {outcome === 'error' && <span class="risk high"> refused: {code}</span>}
      </p>
      <p class="soft">
        <AgentText text={byText(entry, name)} reading="line" />
        {' · '}
        <a href={context.at('ledger', String(seq))}>Entry {seq}</a>
      </p>
    </>
  );
}

/** Such as `claude on codex, key laptop`. */
function byText({ agent, platform, key_id: keyId }: LedgerEntry, name: string | null): string {
  const on = platform === null || platform === 'unknown' ? '' : ` on ${platform}`;
  const who = agent === null && on === '' ? '' : (agent ?? 'an agent') + on;
  const key = name !== null && keyId?.startsWith('key_') ? `key ${name}` : (name ?? '');
  return [who, key].filter((one) => one !== '').join(', ') || 'the service';
}

type AttemptStep = Extract<Step, { kind: 'attempt' }>;

function isAccepted({ attempt: { status_code: code } }: AttemptStep): boolean {
  return code !== null && code >= 200 && code < 300;
}

function Attempt({
  context,
  step,
}: {
  readonly context: PageContext;
  readonly step: AttemptStep;
}): JSX.Element {
  const { attempt, delivery, host } = step;
  const { status_code: code, duration_ms: ms, error, response } = attempt;
  return (
    <>
      <p>
        {isAccepted(step) ? 'Delivered to ' : 'Delivery failed: '}
        <AgentText text={host} reading="exact" class="mono" />
      </p>
      <p class="soft">
        Attempt {attempt.attempt} · {code ?? 'no answer'} in {ms} ms
        {delivery.route_id !== null && (
          <>
            {' · '}
            <a href={context.at('routes', delivery.route_id)}>Route</a>
          </>
        )}
      </p>
      {error !== null && <AgentText text={error} reading="line" class="soft" />}
      {response !== null && response !== '' && (
        <details>
          <summary>Answer</summary>
          <AgentText text={response} reading="prose" class="mono code" />
        </details>
      )}
    </>
  );
}
