import type * as z from 'zod';
import { pluralize } from './pluralize.ts';
import type { FieldProblem } from './errors.ts';
import { nearest } from './suggest.ts';
import { ExactNumber } from './json/exact-json.ts';

/** Nobody reads more, and hostile input may have a hundred thousand. */
const PROBLEMS_MAX = 20;

/** The first problems of an input that its schema refused. `fields`: what the input may have at the top. */
export function problemsOf(error: z.ZodError, fields: readonly string[] = []): FieldProblem[] {
  return withoutFollowing(error.issues.slice(0, PROBLEMS_MAX))
    .flatMap((issue) => problemsOfIssue(issue, fields))
    .slice(0, PROBLEMS_MAX);
}

/** A value of another type also fails the limits of its field, which mean nothing then. */
function withoutFollowing(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const mistyped = new Set<string>();
  return issues.filter(({ code, path }) => {
    const field = fieldPath(path);
    if (mistyped.has(field)) return false;
    if (code === 'invalid_type') mistyped.add(field);
    return true;
  });
}

function problemsOfIssue(issue: z.core.$ZodIssue, fields: readonly string[]): FieldProblem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, PROBLEMS_MAX).map((key) => ({
      path: fieldPath([...issue.path, key]),
      message: unknownText(key, issue.path.length === 0 ? fields : []),
    }));
  }
  return [{ path: fieldPath(issue.path), message: issue.message }];
}

/** Hostile names may be long. */
const TYPED_MAX_CHARS = 64;

function unknownText(name: string, fields: readonly string[]): string {
  const meant = name.length > TYPED_MAX_CHARS ? null : nearest(name, fields);
  return meant === null ? 'Unknown field.' : `Unknown field. Did you mean \`${meant}\`?`;
}

/** `['options', 2]` as `options[2]`. */
function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text ? `${text}.${String(part)}` : String(part);
  }, '');
}

/** What's wrong with a value, if the schema doesn't say so itself. */
export function problemText(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'This field is required.';
  // `plainNumbers` leaves such numbers exact.
  if (issue.input instanceof ExactNumber) return 'The number has too many digits to be exact.';
  switch (issue.code) {
    case 'invalid_type':
      return `Must be ${TYPES[issue.expected] ?? issue.expected}.`;
    case 'too_small':
      return bound(issue.origin, issue.minimum, issue.inclusive ? 'at least' : 'more than');
    case 'too_big':
      return bound(issue.origin, issue.maximum, issue.inclusive ? 'at most' : 'less than');
    case 'invalid_value':
      return oneOf(issue.values);
    case 'invalid_format':
      return `Must be ${FORMATS[issue.format] ?? 'of another form'}.`;
    default:
      return 'This value is not allowed.';
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const FORMATS: Readonly<Record<string, string>> = {
  base64: 'base64',
  datetime: 'a time such as `2026-01-02T03:04:05Z`',
  email: 'an email address',
  url: 'a URL',
};

const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'item' };

function bound(origin: string, limit: number | bigint, how: string): string {
  const unit = UNITS[origin];
  if (unit === undefined) return `Must be ${how} ${limit}.`;
  if (how === 'at least' && limit === 1) return 'Must not be empty.';
  return `Must have ${how} ${pluralize(Number(limit), unit)}.`;
}

function oneOf(values: readonly unknown[]): string {
  const named = values.map((value) => `\`${String(value)}\``).join(', ');
  return values.length === 1 ? `Must be ${named}.` : `Must be one of ${named}.`;
}
