import * as fc from 'fast-check';
import type { PolicySubject } from '../../../../shared/rules/policy/subject.ts';

// Few words that overlap in many ways, so that random rules and calls meet.
const ACTIONS = ['pay', 'pay.*', 'pay.out', 'pay.out.*', 'pa*', '*', 'refund', 'ref*'];
const DOMAINS = ['a.com', '*.a.com', 'b.a.com', '*.b.a.com', '*.com', 'c.org', 'xn--bcher-kva.de'];
const AMOUNTS = [-1, 0, 1, 2, 2.5, 100];
const RISKS = ['low', 'medium', 'high'] as const;
const EFFECTS = ['allow', 'deny', 'require_approval', 'auto_approve', 'auto_approve_notify'];

const some = (values: readonly string[]) =>
  fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 });
const oneOrSome = (values: readonly string[]) => fc.oneof(fc.constantFrom(...values), some(values));
const channel = fc.stringMatching(/^chn_[0-9a-z]{26}$/);

const conditions = {
  action: oneOrSome(ACTIONS),
  tool: oneOrSome(['file_url', 'email_send']),
  amount_lte: fc.constantFrom(...AMOUNTS),
  amount_gt: fc.constantFrom(...AMOUNTS),
  risk: oneOrSome(RISKS),
  recipient_domains: some(DOMAINS),
};

/** A rule as an agent writes it, with few conditions: those with many match nothing. */
const writtenRule = fc
  .record(
    {
      effect: fc.constantFrom(...EFFECTS),
      id: fc.stringMatching(/^[a-z][a-z0-9_-]{8,12}$/),
      kept: fc.subarray(Object.keys(conditions), { maxLength: 3 }),
      approvers: fc.array(channel, { minLength: 1, maxLength: 2 }),
      description: fc.constantFrom(
        'Small payments.',
        'a "b" and c',
        '; approvers nobody',
        'ü\u200dx',
      ),
      ...conditions,
    },
    {
      requiredKeys: ['effect', 'kept', ...(Object.keys(conditions) as (keyof typeof conditions)[])],
    },
  )
  .map(({ kept, ...rule }) =>
    Object.fromEntries(
      Object.entries(rule).filter(([name]) => !(name in conditions) || kept.includes(name)),
    ),
  );

const rulesOf = (rule: fc.Arbitrary<Readonly<Record<string, unknown>>>) =>
  fc.uniqueArray(rule, {
    maxLength: 8,
    // Rules without an id are all different.
    comparator: (a, b) => a['id'] !== undefined && a['id'] === b['id'],
  });

/** A document that holds. */
export const writtenPolicy = fc.record({ rules: rulesOf(writtenRule) });

const COMMANDS = ['npm test', 'git status', 'git log *', 'git *', 'rm *', 'rm', "'a b' c"];
const FOLDERS = ['/', '/home/ana', '/home/ana/shop', '/etc'];
const TOOLS = ['tool.Bash', 'tool.Edit', 'tool.*'];

const bindTest = fc.oneof(
  fc.record({ command: oneOrSome(COMMANDS) }),
  fc.record({ under: oneOrSome(FOLDERS) }),
  fc.record({ command: some(COMMANDS), prefix: fc.constantFrom('npm', 'git ') }),
  oneOrSome(['npm test', '/home/ana/shop/a.ts', 'EUR']),
  fc.record({ lte: fc.constantFrom(...AMOUNTS) }),
);
const bindTests = fc.dictionary(fc.constantFrom('/command', '/file_path', '/x/0'), bindTest, {
  minKeys: 1,
  maxKeys: 2,
});

/** A document of which some rules test what tools of coding agents get. */
export const toolPolicy = fc.record({
  rules: rulesOf(
    fc.oneof(
      writtenRule,
      fc.tuple(writtenRule, bindTests, fc.option(oneOrSome(TOOLS))).map(([rule, bind, tools]) => {
        const { effect, id } = rule;
        return { effect, ...(id !== undefined && { id }), ...(tools && { action: tools }), bind };
      }),
    ),
  ),
});

const line = fc.oneof(
  fc.constantFrom(
    'npm test',
    'npm test && git status',
    'git log -p; npm test',
    'sudo rm -rf /',
    'git log $(rm x)',
    'rm x > y',
    "'a b' c",
    'npm test\nrm x',
    '',
  ),
  fc
    .array(fc.constantFrom(...COMMANDS, '&&', ';', '|', '&', '$x', '`', '"', '>', '\n', '#'))
    .map((words) => words.join(' ')),
  fc.string(),
);
const path = fc.oneof(
  fc.constantFrom('/home/ana/shop/a.ts', '/home/ana/../etc/x', '/ETC/x', 'a.ts', '/', '//etc/x'),
  fc.string(),
);

/** A call for a tool of a coding agent. */
export const toolSubject: fc.Arbitrary<PolicySubject> = fc.record({
  tool: fc.constant('ask_approval'),
  action: fc.constantFrom('tool.Bash', 'tool.Edit', 'tool.x', 'pay'),
  amount: fc.constant(null),
  risk: fc.constantFrom(...RISKS),
  recipientDomains: fc.constant(null),
  bind: fc.oneof(
    fc.record({ command: line }),
    fc.record({ file_path: path }),
    fc.record({ command: line, file_path: path, x: fc.array(fc.oneof(line, fc.double())) }),
    fc.jsonValue(),
  ),
});

const risk = fc.option(fc.constantFrom(...RISKS));
const action = fc.constantFrom(
  'pay',
  'pay.',
  'pay.out',
  'pay.out.x',
  'pa',
  'refund',
  'Pay',
  'x',
  '',
);
const domain = fc.constantFrom(
  'a.com',
  'A.com',
  'a.com.',
  'b.a.com',
  'x.b.a.com',
  'xa.com',
  'c.org',
  'x.c.org',
  'com',
  '',
  'a b',
  'bücher.de',
  'BÜCHER.de',
  'xn--bcher-kva.de',
  'ａ.com',
  '\u212A.com',
);

/** Any call, also one that has what calls of its tool never have. */
export const subject: fc.Arbitrary<PolicySubject> = fc.record({
  tool: fc.constantFrom('ask_approval', 'file_url', 'email_send'),
  action: fc.option(fc.oneof(action, fc.string())),
  amount: fc.option(fc.oneof(fc.constantFrom(...AMOUNTS, 0.5, 1.5, -0, NaN), fc.double())),
  risk,
  recipientDomains: fc.option(
    fc.array(fc.oneof({ weight: 9, arbitrary: domain }, fc.string()), { maxLength: 4 }),
  ),
});
