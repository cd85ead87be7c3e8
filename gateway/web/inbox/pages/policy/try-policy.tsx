import type { JSX } from 'hono/jsx/jsx-runtime';
import type { AnswerOf } from '../../../../../shared/kernel/operation.ts';
import { parseExact, stringifyExact } from '../../../../../shared/lib/json/exact-json.ts';
import { ACTION_MAX_CHARS } from '../../../../../shared/lib/limits.ts';
import { policyTest } from '../../../../../shared/operations/policy/test.ts';
import type { PolicySubject } from '../../../../../shared/rules/policy/subject.ts';
import { Icon } from '../../../ui/icons.tsx';
import { KINDS } from '../../../pages/copy.ts';
import { Fields, type FieldSpec } from '../../../ui/form.tsx';
import { ListSection, type ListRow } from '../../../ui/list.tsx';
import { filledIn, type QueryFilter } from '../../../ui/query.ts';
import { line, mono, ours, time } from '../../../ui/text.tsx';
import { Chip, Heading, Problem, UpLink } from '../../../ui/parts.tsx';
import { EFFECTS } from './policy-copy.tsx';
import { pastRequests, type PastRequest } from './policy-queries.ts';
import { NO_REFUSAL, refusalOf, type Refusal } from '../../../ui/refusal.ts';
import type { PageResult, PageContext } from '../../page-context.ts';
import { endText } from './policy-past.tsx';

const FIELDS = ['tool', 'action', 'amount', 'bind', 'risk', 'recipient_domains'] as const;

type TrialForm = QueryFilter<(typeof FIELDS)[number]>;

const AMOUNT_MAX_CHARS = 30;
const RECIPIENTS_MAX_CHARS = 2000;
/** The form is in the URL, whose length is limited. */
const BIND_MAX_CHARS = 2000;

const TOOLS = [
  ['ask_approval', 'Ask for an approval'],
  ['file_url', 'Make a public link to a file'],
  ['email_send', 'Send an email'],
] as const;
const RISKS = [
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
] as const;

type PolicyTestAnswer = AnswerOf<typeof policyTest>;

type RuleTrial = PolicyTestAnswer['trace'][number];

/** What the policy would decide about a call, and why. It creates no request, so the form's fields are in the URL. */
export async function showTryPolicy(context: PageContext): Promise<PageResult> {
  const written = filledIn(context, FIELDS);
  const { tested, refusal } =
    written.tool === undefined
      ? { tested: null, refusal: NO_REFUSAL }
      : await test(context, written);
  const content = (
    <>
      <UpLink href={context.at('policy')} whole>
        Policy
      </UpLink>
      <div class="stack">
        <Heading
          title="Try the policy"
          lead="This is only a test: nothing is done, and nobody is asked."
        />
        <Problem text={refusal.text} />
        {tested === null ? (
          <p class="nothing">Describe a call, or pick a past request.</p>
        ) : (
          outcomeOf(tested)
        )}
        {pastPicks(context, await context.read(pastRequests, {}))}
      </div>
      {tryForm(written, refusal.fields)}
    </>
  );
  return { title: 'Try the policy', content, status: refusal.status, wide: true };
}

const PICKS_MAX = 20;

/** Past requests; a click tries the policy on one. */
function pastPicks(context: PageContext, past: readonly PastRequest[]): JSX.Element | null {
  if (past.length === 0) return null;
  const rows = past.slice(0, PICKS_MAX).map(({ record, subject }): ListRow => ({
    href: `${context.at('policy', 'try')}?${queryOf(subject)}`,
    what: line(record.summary),
    side: endText(record),
    meta: [
      subject.action === null ? KINDS[record.kind].noun : mono(subject.action),
      time(context, record.created_at),
    ],
  }));
  return <ListSection title="Try it on a past request" rows={rows} />;
}

/** The fields of the form for a call. */
function queryOf({ tool, action, amount, bind, risk, recipientDomains }: PolicySubject): string {
  const fields = {
    tool,
    action,
    amount: amount === null ? null : String(amount),
    bind: bind === undefined ? null : stringifyExact(bind),
    risk,
    recipient_domains: recipientDomains?.join(', ') ?? null,
  };
  const given = Object.entries(fields).filter(
    (field): field is [string, string] => field[1] !== null,
  );
  return new URLSearchParams(given).toString();
}

async function test(
  context: PageContext,
  { tool, action, amount, bind, risk, recipient_domains: recipients }: TrialForm,
): Promise<{ tested: PolicyTestAnswer | null; refusal: Refusal }> {
  if (amount !== undefined && !Number.isFinite(Number(amount))) {
    const fields = { amount: 'Write a number such as 80 or 12.5.' };
    return { tested: null, refusal: { status: 400, text: null, fields } };
  }
  const bound = bind === undefined ? undefined : boundIn(bind);
  if (bound === null) {
    const fields = { bind: 'Write JSON such as {"amount": 80}.' };
    return { tested: null, refusal: { status: 400, text: null, fields } };
  }
  try {
    const tested = await context.call(policyTest, {
      tool,
      ...(action !== undefined && { action }),
      ...(amount !== undefined && { amount: Number(amount) }),
      ...(bound !== undefined && { bind: bound }),
      ...(risk !== undefined && { risk }),
      ...(recipients !== undefined && { recipient_domains: domainsIn(recipients) }),
    });
    return { tested, refusal: NO_REFUSAL };
  } catch (error) {
    return { tested: null, refusal: refusalOf(error, FIELDS) };
  }
}

/** JSON with its numbers as they're written; null if it isn't JSON. */
function boundIn(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return null;
  }
}

/** People enter mail addresses, but rules match domains. */
function domainsIn(recipients: string): string[] {
  const parts = recipients.split(/[\s,;]+/).map((one) => one.slice(one.lastIndexOf('@') + 1));
  return [...new Set(parts.filter((one) => one !== ''))];
}

function tryForm(
  {
    tool = 'ask_approval',
    action,
    amount,
    bind,
    risk = 'medium',
    recipient_domains: to,
  }: TrialForm,
  problems: Refusal['fields'],
): JSX.Element {
  const fields: readonly FieldSpec[] = [
    { kind: 'choice', name: 'tool', label: 'The agent wants to', value: tool, choices: TOOLS },
    {
      name: 'action',
      label: 'Action',
      value: action,
      max: ACTION_MAX_CHARS,
      placeholder: 'payment.refund',
    },
    { name: 'amount', label: 'Amount', value: amount, max: AMOUNT_MAX_CHARS, placeholder: '80' },
    {
      name: 'bind',
      label: 'Bound values',
      value: bind,
      max: BIND_MAX_CHARS,
      placeholder: '{"amount": 80, "currency": "EUR"}',
      hint: 'As JSON: what the agent binds itself to.',
    },
    { kind: 'choice', name: 'risk', label: 'Risk', value: risk, choices: RISKS },
    {
      name: 'recipient_domains',
      label: 'Recipients',
      value: to,
      max: RECIPIENTS_MAX_CHARS,
      placeholder: 'ana@example.com, example.org',
      hint: 'For an email: addresses or domains.',
    },
  ];
  return (
    <form method="get" class="act card stack" aria-label="The call">
      <Fields fields={fields} problems={problems} />
      <button class="btn yes">See what happens</button>
    </form>
  );
}

const ICONS = { good: 'yes', bad: 'no', calm: 'ask', warn: 'warn' } as const;

function outcomeOf({ effect, rule, sentence, trace }: PolicyTestAnswer): JSX.Element {
  const { text, tone, line: meaning } = EFFECTS[effect];
  return (
    <>
      <div class={`end ${tone}`} role="status">
        <Icon name={ICONS[tone]} />
        <div>
          <h2 class="summary">{text}</h2>
          <p>{meaning}</p>
          <p>{rule === null ? line(sentence) : <>The rule {ours(rule)} decides.</>}</p>
        </div>
      </div>
      {trace.length > 0 && (
        <section aria-labelledby="why">
          <h2 id="why">Why, rule by rule</h2>
          <ol class="laws">{trace.map(triedRule)}</ol>
        </section>
      )}
    </>
  );
}

function triedRule(tried: RuleTrial): JSX.Element {
  const { decides, matched, says, failed } = tried;
  return (
    <li class={decides ? 'decides' : 'not'}>
      {line(says)}
      <Chip text={verdictOf(tried)} tone={decides ? EFFECTS[tried.effect].tone : 'calm'} />
      {!matched && (
        <span class="meta">But {line(failed.map(({ given }) => given).join(', and '))}</span>
      )}
    </li>
  );
}

function verdictOf({ decides, matched }: RuleTrial): string {
  if (decides) return 'Decides';
  return matched ? 'Also matches' : 'Doesn’t match';
}
