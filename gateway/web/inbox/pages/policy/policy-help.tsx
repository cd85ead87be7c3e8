import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { POLICY_RULES_MAX, type PolicyRule } from '../../../../../shared/rules/policy/document.ts';
import { EFFECTS } from './policy-copy.tsx';
import { Facts } from '../../../ui/detail.tsx';

interface Example {
  /** The value of the button that inserts it. */
  readonly name: string;
  readonly title: string;
  readonly rule: Omit<PolicyRule, 'id'>;
}

/** Rules that most projects begin with. */
const EXAMPLES: readonly Example[] = [
  {
    name: 'small-refunds',
    title: 'Approve small refunds',
    rule: { effect: 'auto_approve_notify', action: ['payment.refund'], amount_lte: 50 },
  },
  {
    name: 'own-domain',
    title: 'Allow mail to your own domain',
    rule: { effect: 'allow', tool: ['email_send'], recipient_domains: ['example.com'] },
  },
  {
    name: 'two-people',
    title: 'Two people approve high risks',
    rule: { effect: 'require_approval', risk: ['high'], approvals: 2 },
  },
  {
    name: 'no-deletion',
    title: 'Refuse deletions',
    rule: { effect: 'deny', action: ['delete.*'] },
  },
  {
    name: 'short-links',
    title: 'Allow public links to files',
    rule: { effect: 'auto_approve_notify', tool: ['file_url'] },
  },
];

/** The rule of the example with this name; undefined if there is none. */
export function exampleRule(name: string): PolicyRule | undefined {
  const found = EXAMPLES.find((example) => example.name === name);
  return found && { id: found.name, ...found.rule };
}

/** Buttons that put an example at the end of the document in the form. */
export function Examples(): JSX.Element {
  return (
    <fieldset>
      <legend>Add an example rule at the end, and change it to fit</legend>
      <div class="ways">
        {EXAMPLES.map(({ name, title }) => (
          <button class="btn small" name="act" value={`example:${name}`}>
            {title}
          </button>
        ))}
      </div>
    </fieldset>
  );
}

const FIELDS: readonly (readonly [name: string, text: string])[] = [
  ['id', 'A name of your own, shown wherever the rule decides: a-z, 0-9, _ and -.'],
  ['effect', 'Required: what happens. See below.'],
  [
    'action',
    'What the agent asks to do: `payment.refund`, or `payment.*` for all that begin so. A list matches any of them.',
  ],
  ['tool', '`email_send` for mail, `file_url` for public links.'],
  ['amount_lte', 'The amount is at most this, without its sign.'],
  ['amount_gt', 'The amount is over this, without its sign.'],
  [
    'amount_at',
    'Where bound values have the amount, as a JSON pointer: `/amount` if you leave it out. To approve, a rule needs the same number there.',
  ],
  [
    'bind',
    'What the agent binds itself to: `{"/currency": "EUR", "/fee": {"lte": 5}}`. Tests are a value, a list of values, `prefix`, `gt`, `lte`, `command` for a line for a shell (`npm test`, or `git log *` with any further words) and `under` for a path in a folder.',
  ],
  ['risk', '`low`, `medium` or `high`, as the agent states it. A list matches any of them.'],
  [
    'recipient_domains',
    'For mail: `example.com`, or `*.example.com` for its subdomains. To allow mail, every recipient must match.',
  ],
  [
    'approvers',
    'Whom to ask or notify: ids of channels, `chn_…`. Without it, everyone who may decide.',
  ],
  ['approvals', 'How many people must approve. Only with `require_approval`.'],
  ['description', 'A remark for readers.'],
];

const EFFECT_LINES = Object.entries(EFFECTS);

/** What a policy may contain, in words. */
export function PolicyReference(): JSX.Element {
  return (
    <section class="act card stack reference" aria-labelledby="reference">
      <h2 id="reference">What a policy contains</h2>
      <p class="soft">
        <code class="mono">{'{"rules": […]}'}</code>, up to {POLICY_RULES_MAX.toString()} rules. The
        first rule whose conditions all hold decides. If none does, a person decides.
      </p>
      <details open>
        <summary>Fields of a rule</summary>
        <Facts facts={FIELDS.map(([name, text]) => [code(name), marked(text)])} />
      </details>
      <details open>
        <summary>Effects</summary>
        <Facts facts={EFFECT_LINES.map(([name, { line }]) => [code(name), line])} />
      </details>
    </section>
  );
}

function code(text: string): JSX.Element {
  return <code class="mono">{text}</code>;
}

/** Our own text, with code between backticks. */
function marked(text: string): Child {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : code(part)));
}
