import * as z from 'zod';
import { POLICY_NOTE_MAX_CHARS } from '../../lib/limits.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { canonicalJson } from '../../rules/canonical-json.ts';
import { parsePolicy } from '../../rules/policy/document.ts';
import { shadowedRules } from '../../rules/policy/shadowed.ts';
import { label } from '../fields.ts';
import { optionalProse, waitSeconds } from '../request/fields.ts';
import { openRequest, personDecides } from '../request/open.ts';
import { requestAnswer, toAnswer } from '../request/record.ts';
import { waitForDecision } from '../request/wait.ts';
import { refuseUnknownChannels } from './approvers.ts';
import { policyInput } from './view.ts';
import { pluralize } from '../../lib/pluralize.ts';

const ACTION = 'policy_set';

export const policySet = defineOperation({
  name: 'policy_set',
  summary: 'Propose a new policy for people to approve.',
  description:
    "Replaces the whole document: send all rules, starting from policy_get. warnings lists rules that can never match. On needs_context nothing changes: propose a revised policy. pending isn't a denial: call request_status later.",
  scope: 'approvals',
  input: z.strictObject({
    policy: policyInput,
    note: optionalProse(POLICY_NOTE_MAX_CHARS).describe('Shown to people above the rules.'),
    wait_seconds: waitSeconds,
  }),
  output: requestAnswer.extend({
    warnings: z
      .array(
        z.object({
          rule: label(64).describe('Id of the rule.'),
          message: z.string().describe('What is wrong with it.'),
        }),
      )
      .describe('Rules that can never decide, and the like.'),
  }),
  errors: ['POLICY_INVALID', 'CHANNEL_NOT_VERIFIED', 'TOO_MANY_PENDING_REQUESTS'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'PUT', path: '/v1/policy' },
  mcp: { title: 'Propose a policy', openWorld: true, asks: 'once' },
  cli: {
    usage: 'policy set <policy>',
    examples: [
      'policy set @policy.json --note "Small refunds need nobody"',
      'policy set - --until-decided < policy.json',
    ],
  },
  subject: (_input, output) => output.request_id,
  example: {
    policy: {
      rules: [{ id: 'small', effect: 'auto_approve', action: 'payment.*', amount_lte: 100 }],
    },
    wait_seconds: 0,
  },
}).write({
  // Parsing a long document takes too long for a transaction.
  prepare: async (_context, { policy }) => {
    const document = parsePolicy(policy);
    const warnings = shadowedRules(document).map(({ rule, message }) => ({ rule, message }));
    return { document, warnings };
  },
  commit: async (context, { note }, { document, warnings }) => {
    await refuseUnknownChannels(context.store, document);
    const judgement = await personDecides(context);
    const proposal = { rules: document.rules, note: note ?? null, baseVersion: judgement.version };
    const draft = {
      kind: 'policy',
      action: ACTION,
      subject: canonicalJson({ rules: document.rules, base: judgement.version }),
      summary: `Replace policy version ${judgement.version}: ${pluralize(document.rules.length, 'rule')}`,
      risk: 'high',
      proposal,
    } as const;
    const row = await openRequest(context, draft, judgement);
    return { ...(await toAnswer(context.store, row, context.now)), warnings };
  },
  wait: async (context, { wait_seconds }, { request_id, warnings }) => {
    const row = await waitForDecision(context, request_id, wait_seconds);
    const answer = await context.read((store) => toAnswer(store, row, context.now));
    return { ...answer, warnings };
  },
});
