import type { JSX } from 'hono/jsx/jsx-runtime';
import { pluralize } from '../../../../../shared/lib/pluralize.ts';
import {
  compilePolicy,
  decidePolicy,
  type PolicyVerdict,
} from '../../../../../shared/rules/policy/decide.ts';
import type { PolicyDocument, PolicyEffect } from '../../../../../shared/rules/policy/document.ts';
import { endOf } from '../../../pages/copy.ts';
import { withdrawnBecause } from '../../../../../shared/rules/requests/request-state.ts';
import { ListRows, type ListRow } from '../../../ui/list.tsx';
import { line, mono, time } from '../../../ui/text.tsx';
import { EFFECTS } from './policy-copy.tsx';
import type { PastRequest } from './policy-queries.ts';
import type { PageContext } from '../../page-context.ts';

interface VerdictChange extends PastRequest {
  readonly before: PolicyVerdict;
  readonly after: PolicyVerdict;
}

/** How a proposed policy would have decided past requests, with the ones it decides differently first. */
export function pastDecisions(
  context: PageContext,
  past: readonly PastRequest[],
  { current, proposed }: { readonly current: PolicyDocument; readonly proposed: PolicyDocument },
): JSX.Element {
  const [now, then] = [compilePolicy(current), compilePolicy(proposed)];
  const compared = past.map((one) => ({
    ...one,
    before: decidePolicy(now, one.subject),
    after: decidePolicy(then, one.subject),
  }));
  const changed = compared.filter(({ before, after }) => before.effect !== after.effect);
  return (
    <section class="card stack" aria-labelledby="past">
      <h2 id="past">On the last {pluralize(past.length, 'request')}</h2>
      {past.length === 0 ? (
        <p class="soft">Agents haven’t asked for anything yet.</p>
      ) : (
        <>
          <p>{summaryOf(compared)}</p>
          {changed.length === 0 ? (
            <p class="soft">This policy decides all of them the same way.</p>
          ) : (
            <>
              <p>{pluralize(changed.length, 'request')} would be decided differently:</p>
              <ListRows
                label="Past requests that this policy decides differently"
                rows={changed.map((one) => changedRow(context, one))}
              />
            </>
          )}
        </>
      )}
    </section>
  );
}

/** Such as `It would approve 12 at once, and people would decide 38.` */
function summaryOf(compared: readonly VerdictChange[]): string {
  const counts = new Map<PolicyEffect, number>();
  for (const { after } of compared) counts.set(after.effect, (counts.get(after.effect) ?? 0) + 1);
  const parts = [...counts].map(
    ([effect, count]) => `${EFFECTS[effect].text.toLowerCase()}: ${count}`,
  );
  return `With this policy, ${parts.join('; ')}.`;
}

function changedRow(context: PageContext, { record, before, after }: VerdictChange): ListRow {
  const { request_id: id, action, summary, created_at: at } = record;
  const { text, tone } = EFFECTS[after.effect];
  return {
    href: context.at('requests', id),
    what: line(summary),
    states: [[text, tone]],
    meta: [
      action !== null && mono(action),
      time(context, at),
      `${endText(record).toLowerCase()} then`,
      `now: ${EFFECTS[before.effect].text.toLowerCase()}`,
      after.rule !== null && (
        <>
          by <span class="mono">{after.rule.id}</span>
        </>
      ),
    ],
  };
}

export function endText({ kind, status, hint }: PastRequest['record']): string {
  if (status === 'pending') return 'Waits for a decision';
  return endOf({ kind, withdrawn: withdrawnBecause(hint) }, status).heading;
}
