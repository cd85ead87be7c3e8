import * as z from 'zod';
import { defineOperation } from '../../kernel/operation.ts';
import { policyView, toPolicyView } from './view.ts';

export const policyGet = defineOperation({
  name: 'policy_get',
  summary: 'Read the current policy.',
  description:
    'The first matching rule decides. Version 0 means no policy: every request goes to a person. To change the policy, edit this document and propose it with policy_set.',
  scope: 'approvals',
  input: z.strictObject({}),
  output: policyView,
  errors: [],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/policy' },
  mcp: { title: 'Read the policy' },
  cli: { usage: 'policy get', examples: ['policy get', 'policy get --json > policy.json'] },
  example: {},
}).read(({ store }) => toPolicyView(store));
