import type { CommandContext } from '../command.ts';
import { usageError } from '../errors.ts';

/** An option's text, or undefined if it isn't given. */
export function textOption(context: CommandContext, flag: string): string | undefined {
  const value = context.options[flag];
  return typeof value === 'string' ? value : undefined;
}

/** The text of a required option. */
export function requiredText(context: CommandContext, flag: string, hint: string): string {
  const value = textOption(context, flag);
  if (value === undefined || value === '') throw usageError(`--${flag} is missing.`, hint);
  return value;
}

/** A repeatable option's values, in order. */
export function listOption(context: CommandContext, flag: string): readonly string[] {
  const value = context.options[flag];
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? (value as readonly string[]) : [];
}

/** Whether a switch is on. */
export function switchOption(context: Pick<CommandContext, 'options'>, flag: string): boolean {
  return context.options[flag] === true;
}

/** A whole number within bounds, or undefined if the option isn't given. */
export function integerOption(
  context: CommandContext,
  flag: string,
  bounds: { readonly min: number; readonly max: number },
): number | undefined {
  const text = textOption(context, flag);
  if (text === undefined) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= bounds.min && value <= bounds.max) return value;
  throw usageError(`--${flag} must be a whole number from ${bounds.min} to ${bounds.max}.`);
}

/** A positional argument's text, or undefined. */
export function textArgument(context: CommandContext, name: string): string | undefined {
  const value = context.args[name];
  return typeof value === 'string' ? value : undefined;
}
