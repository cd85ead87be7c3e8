import { isObject } from '../../shared/lib/guards.ts';
import { isCommandPattern, runsOnly } from '../../shared/rules/policy/command-line.ts';
import type { ToolCall } from './tool-call.ts';

/** The longest command of a policy's rule, and how many a rule may name. */
const COMMAND_MAX_CHARS = 200;
const COMMANDS_MAX = 50;

/**
 * The first of Claude Code's suggestions ("don't ask again for …") that a policy's rule can say, as that rule; null if
 * there's none: one that changes its mode, or allows files by its own patterns, means nothing here.
 */
export function ruleSuggested(
  suggestions: unknown,
  call: Pick<ToolCall, 'tool' | 'command'>,
): object | null {
  const rules = (Array.isArray(suggestions) ? suggestions : []).map((one) => ruleIn(one, call));
  return rules.find((rule) => rule !== null) ?? null;
}

function ruleIn(suggestion: unknown, { tool, command }: Pick<ToolCall, 'tool' | 'command'>) {
  const { type, behavior, rules } = isObject(suggestion) ? suggestion : {};
  if (type !== 'addRules' || behavior !== 'allow' || !Array.isArray(rules)) return null;
  const own = rules.filter(isObject).filter(({ toolName }) => toolName === tool);
  if (own.length === 0 || own.length < rules.length) return null;
  const common = { effect: 'auto_approve', action: [`tool.${tool}`], risk: ['low', 'medium'] };
  const contents = own.map(({ ruleContent }) => ruleContent);
  if (command !== null) {
    const patterns = contents.map((one) => (typeof one === 'string' ? patternOf(one) : ''));
    const bind = { '/command': { command: patterns } };
    return isSaid(patterns) && runsOnly(command, patterns) === true ? { ...common, bind } : null;
  }
  const isWhole = tool.startsWith('mcp__') && contents.every((one) => one === undefined);
  return isWhole ? common : null;
}

function isSaid(patterns: readonly string[]): boolean {
  const isShort = patterns.every(({ length }) => length <= COMMAND_MAX_CHARS);
  return isShort && patterns.length <= COMMANDS_MAX && patterns.every(isCommandPattern);
}

/** `npm run test:*` is a prefix of the whole line there, and here one of its words. */
function patternOf(content: string): string {
  return content.endsWith(':*') ? `${content.slice(0, -2)} *` : content;
}
