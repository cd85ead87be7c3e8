import type { JSX } from 'hono/jsx/jsx-runtime';
import type { AnswerOf } from '../../../../../shared/kernel/operation.ts';
import { ServiceError } from '../../../../../shared/lib/errors.ts';
import { POLICY_NOTE_MAX_CHARS } from '../../../../../shared/lib/limits.ts';
import { isSigned } from '../../../../../shared/kernel/links.ts';
import { isObject } from '../../../../../shared/lib/guards.ts';
import { pluralize } from '../../../../../shared/lib/pluralize.ts';
import { policyDiff } from '../../../../../shared/operations/policy/diff.ts';
import { policyGet } from '../../../../../shared/operations/policy/get.ts';
import { policySet } from '../../../../../shared/operations/policy/set.ts';
import {
  parsePolicy,
  type PolicyDocument,
  type PolicyRule,
} from '../../../../../shared/rules/policy/document.ts';
import { DiffLines } from '../../../pages/subject.tsx';
import { plainLine } from '../../../pages/text.ts';
import { Fields, type FieldSpec } from '../../../ui/form.tsx';
import { line, ours } from '../../../ui/text.tsx';
import { Form, Heading, Note, Problem, UpLink } from '../../../ui/parts.tsx';
import { shownChanges } from './policy-changes.ts';
import { pastRequests, type PastRequest } from './policy-queries.ts';
import { NO_REFUSAL, fieldsOf, refusalOf, type Refusal } from '../../../ui/refusal.ts';
import type { ActionResult, PageResult, PageContext } from '../../page-context.ts';
import { Examples, exampleRule, PolicyReference } from './policy-help.tsx';
import { pastDecisions } from './policy-past.tsx';

const FIELDS = ['policy', 'note'] as const;
const PARSER_WORDS_MAX_CHARS = 200;

interface ProposalForm {
  /** JSON, as the visitor wrote it. */
  readonly policy?: string;
  readonly note?: string;
}

/** What a document changes, and proof for the next form that the visitor saw it. */
interface ProposalDiff extends AnswerOf<typeof policyDiff> {
  readonly seen: string;
  readonly past: readonly PastRequest[];
  readonly current: PolicyDocument;
  readonly proposed: PolicyDocument;
}

/** The form for a new policy; the visitor can propose it after looking at its changes. */
export function showProposePolicy(
  context: PageContext,
  written: ProposalForm,
  { status, text, fields }: Refusal = NO_REFUSAL,
  looked: ProposalDiff | null = null,
): PageResult {
  const title = 'Propose a policy';
  const content = (
    <>
      <UpLink href={context.at('policy')} whole>
        Policy
      </UpLink>
      <div class="stack">
        <Heading
          title={title}
          lead="It replaces the whole policy once a person approves it. Until then nothing changes."
        />
        <Problem text={text} />
        {looked && changesOf(looked)}
        {looked && pastDecisions(context, looked.past, looked)}
        <Form context={context} class="card stack">
          {looked?.changed && (
            <>
              <input type="hidden" name="seen" value={looked.seen} />
              <button class="btn yes" name="act" value="propose">
                Propose this
                <small>we ask people, and one of them decides</small>
              </button>
            </>
          )}
          <Fields fields={fieldsFor(written)} problems={fields} />
          <button class="btn" name="act" value="diff">
            Preview changes
          </button>
          <Examples />
        </Form>
      </div>
      <PolicyReference />
    </>
  );
  return { title, content, status, wide: true };
}

function fieldsFor({ policy, note }: ProposalForm): readonly FieldSpec[] {
  return [
    { kind: 'code', name: 'policy', label: 'The policy, as JSON', value: policy, rows: 18 },
    {
      name: 'note',
      label: 'Why',
      value: note,
      max: POLICY_NOTE_MAX_CHARS,
      hint: 'Shown above the rules to the person who decides.',
    },
  ];
}

function changesOf({ changed, lines, version, warnings }: ProposalDiff): JSX.Element {
  const { lines: shown, left } = shownChanges(lines);
  return (
    // This answers a form, so refreshing the URL would remove it.
    <section class="card" aria-labelledby="changes" role="status" data-keep>
      <h2 id="changes">
        {changed
          ? `Changes from version ${version}: + added, - removed`
          : `Same as version ${version}: nothing to propose`}
      </h2>
      {changed && <DiffLines lines={shown} />}
      {left > 0 && (
        <p class="soft">
          {pluralize(left, 'more changed line')}. The request shows them all to the people who
          decide.
        </p>
      )}
      {warnings.map(({ rule, message }) => (
        <Note tone="warn">
          {ours(rule)}: {line(message)}
        </Note>
      ))}
    </section>
  );
}

/** The form with the changes of its document, which it can propose. */
export async function previewPolicy(
  context: PageContext,
  written: ProposalForm,
  policy: unknown,
): Promise<PageResult> {
  const diff = await context.call(policyDiff, { policy });
  const seen = context.inbox.vault.sign(seenText(context, policy));
  const { rules } = await context.call(policyGet, {});
  return showProposePolicy(context, written, NO_REFUSAL, {
    ...diff,
    seen,
    past: await context.read(pastRequests, {}),
    current: { rules },
    proposed: parsePolicy(policy),
  });
}

/**
 * Shows what a document would change. The next form proposes the shown document, which becomes a request like any
 * other.
 */
export async function proposePolicy(context: PageContext, body: string): Promise<ActionResult> {
  const form = fieldsOf(body, ['act', 'seen', ...FIELDS]);
  if (!form) {
    const text = 'We couldn’t read the form. Nothing was proposed.';
    return showProposePolicy(context, {}, { status: 400, text, fields: {} });
  }
  const parsed = parse(form.policy ?? '');
  const example = exampleRule(form.act?.replace(/^example:/, '') ?? '');
  if (example) return withExample(context, form, { parsed, example });
  if ('problem' in parsed) {
    const fields = { policy: parsed.problem };
    return showProposePolicy(context, form, { status: 400, text: null, fields });
  }
  const { policy } = parsed;
  const { note } = form;
  const { vault } = context.inbox;
  try {
    // If the visitor changed the document after the preview, show a new preview first.
    if (form.act !== 'propose' || !isSigned(vault, seenText(context, policy), form.seen ?? '')) {
      return await previewPolicy(context, form, policy);
    }
    const input = { policy, wait_seconds: 0, ...(note !== undefined && { note }) };
    const { request_id: id } = await context.call(policySet, input);
    return { to: context.at('requests', id) };
  } catch (error) {
    const fieldOf = { POLICY_INVALID: 'policy', CHANNEL_NOT_VERIFIED: 'policy' } as const;
    return showProposePolicy(context, form, refusalOf(withPath(error), FIELDS, fieldOf));
  }
}

/** The form with an example at the end of its document, which may still be anything. */
function withExample(
  context: PageContext,
  written: ProposalForm,
  { parsed, example }: { readonly parsed: ParseResult; readonly example: PolicyRule },
): PageResult {
  const rules = 'policy' in parsed && isObject(parsed.policy) ? parsed.policy['rules'] : undefined;
  if (!Array.isArray(rules)) {
    const problem =
      'Write a policy such as {"rules": []} first, so that a rule can be added to it.';
    const fields = { policy: 'problem' in parsed ? parsed.problem : problem };
    return showProposePolicy(context, written, { status: 400, text: null, fields });
  }
  const taken = new Set(rules.filter(isObject).map(({ id }) => id));
  let id = example.id;
  for (let count = 2; taken.has(id); count += 1) id = `${example.id}-${count}`;
  const policy = JSON.stringify({ rules: [...rules, { ...example, id }] }, null, 2);
  return showProposePolicy(context, { ...written, policy });
}

/** Adds the path of the rule that names an unknown approver, as POLICY_INVALID has it. */
function withPath(error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.code !== 'CHANNEL_NOT_VERIFIED') return error;
  const hint = `${String(error.details?.['path'])}: name active channels of this project, by their ids.`;
  return new ServiceError(error.code, { hint });
}

/** The text that we sign as proof that the visitor saw this document. */
function seenText({ project, session }: PageContext, policy: unknown): string {
  return `POST|ui-policy|1|${session.idHash}|${project.id}|${JSON.stringify(policy)}`;
}

type ParseResult = { readonly policy: unknown } | { readonly problem: string };

function parse(text: string): ParseResult {
  try {
    return { policy: JSON.parse(text) as unknown };
  } catch (error) {
    const words = error instanceof SyntaxError ? error.message : '';
    return { problem: `This is not JSON: ${plainLine(words).slice(0, PARSER_WORDS_MAX_CHARS)}` };
  }
}
