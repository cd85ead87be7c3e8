import { compareSizes, decimalOf, isSameDecimal, type Decimal } from '../../lib/json/decimal.ts';
import { ExactNumber, stringifyExact } from '../../lib/json/exact-json.ts';
import { valueAt } from '../../lib/json/json-pointer.ts';
import { runsAny, runsOnly } from './command-line.ts';
import { named, quoted } from './copy.ts';
import type { PolicyEffect, PolicyRule } from './document.ts';
import { isSurelyUnder, mayBeUnder } from './folder.ts';
import type { PolicySubject } from './subject.ts';

/** Where the amount stands in bound values, unless a rule says otherwise. */
export const AMOUNT_AT = '/amount';

/** What a rule wants of one bound value. A missing value never fits. */
export interface BindTest {
  /** Any of these. Numbers are compared by what they say: 20 is 20.0. */
  readonly in?: readonly (string | number | boolean)[] | undefined;
  readonly prefix?: string | undefined;
  /** Numbers, also in texts such as `"20.00"`, are compared as written and without their sign. */
  readonly gt?: number | undefined;
  readonly lte?: number | undefined;
  /** A line for a shell that runs these commands: words, and `*` at the end for any further ones. */
  readonly command?: readonly string[] | undefined;
  /** A path in one of these folders. */
  readonly under?: readonly string[] | undefined;
}

/** The number that a JSON value is, or that a text is written as, such as `"20.00"`; null for any other value. */
function decimalIn(value: unknown): Decimal | null {
  if (typeof value === 'number') return decimalOf(String(value));
  if (value instanceof ExactNumber) return decimalOf(value.text);
  return typeof value === 'string' ? decimalOf(value) : null;
}

/**
 * Whether a rule with this effect lets a call pass. Such a rule must be met by everything that the call names; a rule
 * that stops a call is met as soon as one thing fits.
 */
export function letsPass(effect: PolicyEffect): boolean {
  return effect !== 'deny' && effect !== 'require_approval';
}

interface Amounts {
  /** The stated number and the bound one, as far as they exist. */
  readonly numbers: readonly Decimal[];
  /** What they are, in words. */
  readonly given: string;
  /** How the bound values fail to hold the stated number, in words; null if they hold it. */
  readonly difference: string | null;
  /** Values are bound, but none at this place. */
  readonly isElsewhere: boolean;
  /** The number within any limits may be another one: what is bound here isn't a number, or none is and one is stated. */
  readonly mayBeAnother: boolean;
}

/** The numbers that a rule's conditions on the amount look at. */
function amountsOf({ amount, bind }: PolicySubject, at: string): Amounts {
  const stated = amount === null ? null : decimalIn(amount);
  const value = bind === undefined ? undefined : valueAt(bind, at);
  const bound = decimalIn(value);
  const given = [
    stated === null ? [] : [`the amount is ${String(amount)}`],
    bound === null ? [] : [`the bound one is ${shown(value)}`],
  ].flat();
  const isSame = bind === undefined || (stated !== null && isSameDecimal(stated, bound));
  const isElsewhere = bind !== undefined && value === undefined;
  return {
    numbers: [stated, bound].filter((one) => one !== null),
    given: given.length === 0 ? 'there is no amount' : given.join(' and '),
    difference: isSame ? null : differenceText(amount, value, at),
    isElsewhere,
    mayBeAnother: isElsewhere ? stated !== null : value !== undefined && bound === null,
  };
}

/**
 * Why the amount doesn't meet a rule, in words. `unsure`: one number fits, but the other differs or isn't one. `elsewhere`:
 * nothing is bound where the rule looks, and the stated one lets the call pass.
 */
interface AmountFailure {
  readonly given: string;
  readonly kind: 'unmet' | 'unsure' | 'elsewhere';
}

/**
 * Null if each range has a number within it, and the rule may rely on that: a rule that stops calls takes either
 * number, and one that lets them pass needs the stated number to be the one that's bound, if anything is.
 */
export function amountFailure(
  subject: PolicySubject,
  { effect, amount_at: at = AMOUNT_AT }: PolicyRule,
  ranges: readonly Range[],
): AmountFailure | null {
  const { numbers, given, difference, isElsewhere, mayBeAnother } = amountsOf(subject, at);
  const isMet = ranges.every((range) => numbers.some((number) => isWithin(number, range)));
  const isDoubtful = letsPass(effect) ? isMet : !isMet && mayBeAnother;
  if (isDoubtful && difference !== null) {
    return { given: difference, kind: isElsewhere ? 'elsewhere' : 'unsure' };
  }
  return isMet ? null : { given, kind: 'unmet' };
}

/**
 * What a person must see if the amount that an agent states isn't bound at one of these places, or another value is bound
 * at one of them; otherwise null.
 */
export function amountWarning(
  { amount, bind }: Pick<PolicySubject, 'amount' | 'bind'>,
  places: readonly string[],
): string | null {
  const stated = amount === null ? null : decimalIn(amount);
  if (stated === null || bind === undefined) return null;
  const found = places.map((at) => ({ at, value: valueAt(bind, at) }));
  const filled = found.filter(({ value }) => value !== undefined);
  const other = (filled.length === 0 ? found : filled).find(
    ({ value }) => !isSameDecimal(stated, decimalIn(value)),
  );
  if (other === undefined) return null;
  const text = differenceText(amount, other.value, other.at);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}. What is bound will be done.`;
}

function differenceText(amount: number | null, value: unknown, at: string): string {
  const stated = amount === null ? 'there is no amount' : `the amount is ${String(amount)}`;
  const bound = value === undefined ? 'nothing' : shown(value);
  return `${stated}, but the bound values have ${bound} at ${named(at)}`;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? quoted(value) : named(stringifyExact(value));
}

/** Why a bound value doesn't fit. `unsure`: it isn't certain that it doesn't, so a rule that denies leaves a doubt. */
interface BindFailure {
  readonly given: string;
  readonly kind: 'unmet' | 'unsure';
}

/**
 * Null if the bound value fits the test; otherwise what's there instead, in words. Where a test can't be sure, as with a
 * command that isn't understood or a text in place of a number, a rule that asks people fits, and one that lets a call pass doesn't.
 */
export function bindFailure(
  { bind }: PolicySubject,
  effect: PolicyEffect,
  at: string,
  test: BindTest,
): BindFailure | null {
  if (bind === undefined) return { given: 'nothing is bound', kind: 'unmet' };
  const value = valueAt(bind, at);
  if (value === undefined) return { given: `nothing is bound at ${named(at)}`, kind: 'unmet' };
  const outcome = allOf(fits(value, test), isMeant(value, test, !letsPass(effect)));
  if (outcome === true || (outcome === null && effect === 'require_approval')) return null;
  const isUnsure = outcome === null && effect === 'deny';
  return { given: `${named(at)} binds ${shown(value)}`, kind: isUnsure ? 'unsure' : 'unmet' };
}

/** Whether a command or a path is what the test means; null if that isn't certain. */
function isMeant(value: unknown, { command, under }: BindTest, stops: boolean): boolean | null {
  if (command === undefined && under === undefined) return true;
  if (typeof value !== 'string') return null;
  return allOf(
    command && (stops ? runsAny(value, command) : runsOnly(value, command)),
    under && (stops ? mayBeUnder(value, under) : isSurelyUnder(value, under)),
  );
}

/** Null if none of them is false, but one isn't certain. Tests that the rule doesn't have are undefined. */
function allOf(...outcomes: readonly (boolean | null | undefined)[]): boolean | null {
  if (outcomes.includes(false)) return false;
  return outcomes.includes(null) ? null : true;
}

/** Null if the test is for numbers and the value isn't one. */
function fits(value: unknown, { in: any, prefix, gt, lte }: BindTest): boolean | null {
  if (any && !any.some((one) => isSameValue(one, value))) return false;
  if (prefix !== undefined && !(typeof value === 'string' && value.startsWith(prefix)))
    return false;
  if (gt === undefined && lte === undefined) return true;
  const number = decimalIn(value);
  return number && isWithin(number, rangeOf(gt, lte));
}

function isSameValue(one: string | number | boolean, value: unknown): boolean {
  if (typeof one !== 'number' || typeof value === 'string') return one === value;
  return isSameDecimal(decimalIn(one), decimalIn(value));
}

/** Policies compare numbers without their sign, or a rule for small amounts would let a large negative one pass. */
function isWithin(number: Decimal, { above, most }: Range): boolean {
  const isOver = above === null || above.isNegative || compareSizes(number, above) > 0;
  return isOver && (most === null || (!most.isNegative && compareSizes(number, most) <= 0));
}

/** Null is no limit. */
export interface Range {
  readonly above: Decimal | null;
  readonly most: Decimal | null;
}

export function rangeOf(gt: number | undefined, lte: number | undefined): Range {
  return { above: decimalIn(gt), most: decimalIn(lte) };
}

/** The test in words, to follow `when`: `/amount <= 50`, `/currency is EUR or CHF`. */
export function bindText(
  at: string,
  { in: any, prefix, gt, lte, command, under }: BindTest,
): string {
  const where = `bind ${named(at)}`;
  return [
    any && `${where} is ${any.map(valueText).join(' or ')}`,
    prefix !== undefined && `${where} begins with ${quoted(prefix)}`,
    gt !== undefined && `${where} > ${gt}`,
    lte !== undefined && `${where} <= ${lte}`,
    command && `${where} runs ${command.map(quoted).join(' or ')}`,
    under && `${where} is under ${under.map(quoted).join(' or ')}`,
  ]
    .filter((part) => typeof part === 'string')
    .join(' and ');
}

/** A text that could be a number or a truth value is quoted. */
function valueText(value: string | number | boolean): string {
  if (typeof value !== 'string') return String(value);
  return /^(?:true|false|-?\d.*)$/.test(value) ? quoted(value) : named(value);
}
