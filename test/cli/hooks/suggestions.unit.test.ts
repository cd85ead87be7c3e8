import { expect, it } from 'vitest';
import { ruleSuggested } from '../../../cli/hooks/suggestions.ts';
import { claudeCode } from './payloads.ts';

const adds = (rules: readonly object[], more: object = {}) => ({
  type: 'addRules',
  rules,
  behavior: 'allow',
  destination: 'localSettings',
  ...more,
});
const bash = (...contents: readonly (string | undefined)[]) =>
  contents.map((ruleContent) => ({ toolName: 'Bash', ruleContent }));

it.each([
  ['npm test', bash('npm test:*'), ['npm test *']],
  ['npm test', bash('npm test'), ['npm test']],
  ['cd src && npm test -- a', bash('cd:*', 'npm test:*'), ['cd *', 'npm test *']],
])('what Claude Code suggests for `%s` is a rule', (command, rules, patterns) => {
  expect(ruleSuggested([adds(rules)], { tool: 'Bash', command })).toEqual({
    effect: 'auto_approve',
    action: ['tool.Bash'],
    risk: ['low', 'medium'],
    bind: { '/command': { command: patterns } },
  });
});

it('for a tool of a server it is a rule for the tool', () => {
  const suggestion = adds([{ toolName: 'mcp__github__merge' }]);
  expect(ruleSuggested([suggestion], { tool: 'mcp__github__merge', command: null })).toEqual({
    effect: 'auto_approve',
    action: ['tool.mcp__github__merge'],
    risk: ['low', 'medium'],
  });
});

it.each([
  ['nothing', undefined],
  ['what it suggests for a folder or a mode', claudeCode('x').permission_suggestions],
  ['a denial', [adds(bash('npm test:*'), { behavior: 'deny' })]],
  ['another tool', [adds([{ toolName: 'Edit', ruleContent: 'npm test' }])]],
  ['two tools', [adds([...bash('npm test'), { toolName: 'Edit' }])]],
  ['a whole shell', [adds(bash(undefined))]],
  ['what no rule can say', [adds(bash('npm $(x):*'))]],
  ['another command', [adds(bash('npm run:*'))]],
  ['a part of the line', [adds(bash('npm te:*'))]],
  ['too long a command', [adds(bash(`npm test ${'x'.repeat(200)}`))]],
])('%s is no rule', (_name, suggestions) => {
  expect(ruleSuggested(suggestions, { tool: 'Bash', command: 'npm test' })).toBeNull();
});

it('for a tool that changes files is no rule', () => {
  const suggestion = adds([{ toolName: 'Edit', ruleContent: '/src/**' }]);
  expect(ruleSuggested([suggestion], { tool: 'Edit', command: null })).toBeNull();
});
