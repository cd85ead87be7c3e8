import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { isoTime } from '../../lib/clock.ts';
import { ServiceError } from '../../lib/errors.ts';
import { SUGGESTION_SCAN_MAX, SUGGESTION_WINDOW_MS, SUGGESTIONS_MAX } from '../../lib/limits.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { parsePolicy, type PolicyDocument } from '../../rules/policy/document.ts';
import {
  suggestRules,
  withSuggestion,
  type EndedApproval,
  type RuleSuggestion,
} from '../../rules/policy/suggest.ts';
import type { Repositories } from '../../store/repositories.ts';
import { People } from '../channel/people.ts';
import { refuseUnknownChannels } from './approvers.ts';
import { compiledPolicy } from './proposal.ts';
import { plainRule, policyRule } from './view.ts';

const EXAMPLES_MAX = 3;

const suggestion = named(
  'PolicySuggestion',
  z
    .object({
      action: z.string().describe('The action that people always approved.'),
      approved: z.int().describe('All requests for this action that people decided.'),
      since: z.string().describe('Counted from this time.'),
      first_at: z.string().describe('The oldest of them.'),
      last_at: z.string().describe('The newest of them.'),
      by: z.int().describe('How many people, as far as they are surely different.'),
      rule: policyRule,
      before: z
        .string()
        .nullable()
        .describe('The rule to put it before. Null: it goes to the end.'),
      examples: z.array(z.string()).describe('The newest requests.'),
    })
    .describe('A rule that would decide what people always approved.'),
);

export const policySuggest = defineOperation({
  name: 'policy_suggest',
  summary: 'Suggest rules for what people always approve.',
  description:
    'Looks at what people decided in the last 30 days. An action with 5 or more approvals, and no other outcome, gets a rule with the effect auto_approve_notify, so that people stay informed. Nothing changes until you propose the rule with policy_set and a person approves it. High risk, requests that need several people and rules that name approvers get no suggestion.',
  scope: 'approvals',
  input: z.strictObject({}),
  output: z.object({ items: z.array(suggestion).describe('Rules that would save people work.') }),
  errors: [],
  effect: 'read',
  // Whose channels are one person's is read from addresses that no replica can open.
  replica: 'upstream',
  rest: { method: 'GET', path: '/v1/policy/suggestions' },
  mcp: false,
  cli: { usage: 'policy suggest', examples: ['policy suggest'] },
  example: {},
}).read(async (context) => {
  const { store, now } = context;
  const { policy } = await compiledPolicy(store);
  // Of a very busy project, only the newest requests are read: 5,000 rows with long texts take about 30 ms.
  const unread = Date.parse((await store.requests.askedBefore(SUGGESTION_SCAN_MAX)) ?? '');
  const since = Math.max(now - SUGGESTION_WINDOW_MS, Number.isNaN(unread) ? 0 : unread);
  const scan = SUGGESTION_SCAN_MAX;
  const ended = await store.requests.endedApprovals({ since, now, scan });
  const people = await People.of(context);
  const items: z.input<typeof suggestion>[] = [];
  for (const each of suggestRules(policy, ended)) {
    if (items.length === SUGGESTIONS_MAX) break;
    if (await canBeSet(store, policy, each)) items.push(itemOf(each, since, people));
  }
  return { items };
});

/** Whether policy_set would take the policy with this rule. */
async function canBeSet(
  store: Repositories,
  { rules }: PolicyDocument,
  suggested: RuleSuggestion,
): Promise<boolean> {
  try {
    const document = parsePolicy({ rules: withSuggestion(rules, suggested) });
    await refuseUnknownChannels(store, document);
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

/** Who decided it: without the policy that's always somebody, through a channel. */
function channelOf({ decided_by: by }: EndedApproval): string {
  return by?.replace('channel:', '') ?? '';
}

function itemOf(
  { action, approved, rule, before }: RuleSuggestion,
  since: number,
  people: People,
): z.input<typeof suggestion> {
  return {
    action,
    approved: approved.length,
    since: isoTime(since),
    first_at: isoTime(approved.at(-1)?.ended_at ?? since),
    last_at: isoTime(approved[0]?.ended_at ?? since),
    by: people.distinct([...new Set(approved.map(channelOf))]).length,
    rule: plainRule(rule),
    before,
    examples: approved.slice(0, EXAMPLES_MAX).map(({ id }) => id),
  };
}
