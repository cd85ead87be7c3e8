import type { JSX } from 'hono/jsx/jsx-runtime';
import type { AnswerOf } from '../../../../../shared/kernel/operation.ts';
import { policySuggest } from '../../../../../shared/operations/policy/suggest.ts';
import { suggestionText, suggestionWarning } from '../../../../../shared/rules/policy/suggest.ts';
import { line } from '../../../ui/text.tsx';
import { effectChip, whenText } from './policy-copy.tsx';
import type { PageContext } from '../../page-context.ts';

/** The query field of the form for a new policy that names an action with a suggested rule. */
export const SUGGESTED = 'add';

/** One item of `policy_suggest`. */
type Suggestion = AnswerOf<typeof policySuggest>['items'][number];

export async function suggestionsOf(context: PageContext): Promise<readonly Suggestion[]> {
  return (await context.call(policySuggest, {})).items;
}

/** Rules for what people always approve, and the way to propose each. */
export function suggestedRules(
  context: PageContext,
  suggestions: readonly Suggestion[],
): JSX.Element | null {
  if (suggestions.length === 0) return null;
  return (
    <section class="card stack" aria-labelledby="suggested">
      <div>
        <h2 id="suggested">Suggested rules</h2>
        <p class="soft">The policy could approve these at once. People would still be notified.</p>
      </div>
      {suggestions.map((one) => {
        const { rule, action } = one;
        const warning = suggestionWarning(rule);
        const query = new URLSearchParams({ [SUGGESTED]: action }).toString();
        return (
          <div>
            <p>{line(suggestionText(one))}</p>
            <p>
              {line(whenText(rule))} {effectChip(rule.effect)}
            </p>
            {warning && <p class="soft">{warning}</p>}
            <p class="ways">
              <a class="btn small" href={`${context.at('policy', 'propose')}?${query}`}>
                Propose this rule
              </a>
            </p>
          </div>
        );
      })}
    </section>
  );
}
