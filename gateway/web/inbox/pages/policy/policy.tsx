import type { JSX } from 'hono/jsx/jsx-runtime';
import type { AnswerOf } from '../../../../../shared/kernel/operation.ts';
import { ServiceError } from '../../../../../shared/lib/errors.ts';
import { API_BODY_MAX_BYTES } from '../../../../../shared/lib/limits.ts';
import { policyGet } from '../../../../../shared/operations/policy/get.ts';
import type { PolicyDocument, PolicyRule } from '../../../../../shared/rules/policy/document.ts';
import { suggestionText, withSuggestion } from '../../../../../shared/rules/policy/suggest.ts';
import { AgentText, LongText } from '../../../pages/request-copy.tsx';
import { channelsOf } from '../people/channel-queries.ts';
import { ago, line } from '../../../ui/text.tsx';
import { Heading } from '../../../ui/parts.tsx';
import { effectChip, ruleMeta, whenText } from './policy-copy.tsx';
import type { ActionResult, PageResult, UiPage, PageContext } from '../../page-context.ts';
import { previewPolicy, proposePolicy, showProposePolicy } from './propose-policy.tsx';
import { FROM_REQUEST, ruleFrom } from '../requests/rule-from-request.ts';
import { SUGGESTED, suggestedRules, suggestionsOf } from './suggested-rules.tsx';
import { showTryPolicy } from './try-policy.tsx';

/** Which calls the policy decides, and which go to a person. */
export const policyPage: UiPage = {
  path: 'policy',
  title: 'Policy',
  group: 'settings',
  setting: { section: 'People', about: 'Which calls need a person, and which don’t.' },
  scope: 'approvals',
  // An approved policy takes effect when its request ends.
  topics: ['requests'],
  // Fits a long policy, even if the form encodes each character as three.
  formMaxBytes: API_BODY_MAX_BYTES,
  show,
  act,
};

const JSON_MAX_CHARS = 30_000;

/** Its version 0 means that there is none. */
type Policy = AnswerOf<typeof policyGet>;

async function show(context: PageContext): Promise<PageResult> {
  if (context.id === 'try') return showTryPolicy(context);
  const policy = await context.call(policyGet, {});
  if (context.id === 'propose') return showPropose(context, policy);
  if (context.id !== null) throw new ServiceError('NOT_FOUND');
  return showPolicy(context, policy);
}

function act(context: PageContext, body: string): Promise<ActionResult> {
  return context.id === 'propose'
    ? proposePolicy(context, body)
    : Promise.resolve({ to: context.at('policy') });
}

/** The form for a new policy: the present one, or with the rule that is suggested for an action. */
async function showPropose(context: PageContext, policy: Policy): Promise<PageResult> {
  const request = context.query(FROM_REQUEST);
  if (request !== undefined) return showFromRequest(context, policy, request);
  const action = context.query(SUGGESTED);
  const suggestions = action === undefined ? [] : await suggestionsOf(context);
  const found = suggestions.find((one) => one.action === action);
  if (!found) return showProposePolicy(context, { policy: jsonOf(policy) });
  const document = { rules: withSuggestion(policy.rules, found) };
  const written = { policy: jsonOf(document), note: suggestionText(found) };
  return previewPolicy(context, written, document);
}

/** The form with the rule that would approve from now on what people approved once. */
async function showFromRequest(
  context: PageContext,
  policy: Policy,
  id: string,
): Promise<PageResult> {
  const placed = await ruleFrom(context, policy.rules, id);
  if (!placed) {
    const text = 'No rule fits: the policy decides this already, or leaves it to certain people.';
    const refusal = { status: 200, text, fields: {} };
    return showProposePolicy(context, { policy: jsonOf(policy) }, refusal);
  }
  const document = { rules: withSuggestion(policy.rules, placed) };
  const written = { policy: jsonOf(document), note: `Always allow what was approved in ${id}.` };
  return previewPolicy(context, written, document);
}

/** Only the document, as a start for a new one. */
function jsonOf({ rules }: PolicyDocument): string {
  return JSON.stringify({ rules }, null, 2);
}

async function showPolicy(context: PageContext, policy: Policy): Promise<PageResult> {
  const names = new Map((await channelsOf(context)).map(({ id, label }) => [id, label]));
  const content = (
    <>
      <Heading
        title="Policy"
        lead="Rules are checked from the top. The first one that matches decides."
      >
        <div class="ways">
          <a class="btn small" href={context.at('policy', 'try')}>
            Try it
          </a>
          <a class="btn small" href={context.at('policy', 'propose')}>
            Edit policy
          </a>
        </div>
      </Heading>
      {suggestedRules(context, await suggestionsOf(context))}
      {versionOf(context, policy, names.get(channelIn(policy)))}
      {ruleList(policy.rules, names)}
      {json(jsonOf(policy))}
    </>
  );
  return { title: 'Policy', content };
}

/** A long document stands in the editor only: with its rules it would be too much for one page. */
function json(text: string): JSX.Element | null {
  if (text.length > JSON_MAX_CHARS) return null;
  return (
    <details class="card">
      <summary>As JSON</summary>
      <pre class="agent mono code" translate="no" tabindex={0}>
        <AgentText text={text} reading="prose" />
      </pre>
    </details>
  );
}

function channelIn({ approved_by: by }: Policy): string {
  return by?.replace(/^channel:/, '') ?? '';
}

function versionOf(context: PageContext, policy: Policy, by: string | undefined): JSX.Element {
  const { version, note, approved_at: at } = policy;
  if (version === 0) {
    return <p class="soft">No policy yet, so a person decides everything.</p>;
  }
  return (
    <div class="soft">
      <p>
        Version {version.toString()}, approved{by !== undefined && <> by {line(by)}</>}{' '}
        {ago(context, at, '')}
      </p>
      {note !== null && (
        <blockquote class="quote">
          <LongText text={note} mono={false} />
        </blockquote>
      )}
    </div>
  );
}

function ruleList(rules: readonly PolicyRule[], names: ReadonlyMap<string, string>): JSX.Element {
  return (
    <ol class="laws" aria-label="Rules">
      {rules.map((rule) => (
        <li>
          {line(whenText(rule))}
          {effectChip(rule.effect)}
          {ruleMeta(rule, names)}
        </li>
      ))}
      <li class="rest">
        <span>{rules.length === 0 ? 'Everything' : 'Anything else'}</span>
        {effectChip('require_approval')}
      </li>
    </ol>
  );
}
