import * as z from 'zod';
import { QUESTION_MAX_CHARS } from '../../lib/limits.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { LEASE_ERRORS } from '../inbox/move.ts';
import { canonicalJson } from '../../rules/canonical-json.ts';
import { warningsAsText } from '../json-as-text.ts';
import { addresseesOf, askingFields, options, prose } from '../request/fields.ts';
import { personDecides } from '../request/open.ts';
import { answerInTime, askAnswer, askQuestion, eventFields } from '../request/question.ts';

export const askHuman = defineOperation({
  name: 'ask_human',
  summary: 'Ask people a question.',
  description:
    'The answer is in decision, with status answered. pending means no answer yet: save your state and call request_status later. On needs_context, ask again with more detail.',
  scope: 'approvals',
  input: z.strictObject({
    question: prose(QUESTION_MAX_CHARS).describe('The question; several lines are fine.'),
    options: options.describe('Answers to choose from, up to 5.'),
    ...askingFields,
    ...eventFields,
  }),
  output: askAnswer,
  errors: [
    ...LEASE_ERRORS,
    'CHANNEL_NOT_VERIFIED',
    'TOO_MANY_PENDING_REQUESTS',
    'CALLBACK_SECRET_MISSING',
    'CALLBACK_URL_REJECTED',
  ],
  effect: 'write',
  exact: ['state'],
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/requests', when: 'question' },
  mcp: { title: 'Ask a question', openWorld: true, asks: 'once' },
  cli: {
    usage: 'ask human <question>',
    flags: { event_id: 'event' },
    examples: [
      'ask human "Which region should the copy run in?" --options eu-west,us-east',
      'ask human @question.md --expires-in 2h --until-decided',
      'ask human "Which branch?" --json | jq -r .decision',
    ],
  },
  subject: (_input, output) => output.request_id,
  example: { question: 'Which region should it run in?', wait_seconds: 0 },
}).write({
  prepare: async ({ callbacks }, { callback_url }) => {
    if (callback_url !== undefined) await callbacks.check(callback_url);
  },
  commit: (context, input) => {
    const { question, options: choices } = input;
    const draft = {
      kind: 'question',
      subject: canonicalJson({ question, options: choices }),
      summary: question,
      question,
      options: choices,
      ...addresseesOf(input),
    } as const;
    // No policy condition applies to a question.
    return askQuestion(context, input, draft, () => personDecides(context));
  },
  wait: async (context, input, asked) => ({
    ...(await answerInTime(context, input, asked)),
    ...warningsAsText({ state: input.state }),
  }),
});
