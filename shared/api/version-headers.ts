import type { IncomingHttpHeaders } from 'node:http';
import { invalid } from '../lib/errors.ts';
import type { Method, Operation } from '../kernel/operation.ts';
import { isObject } from '../lib/guards.ts';

/** What a write expects to be there, as a field of its input. */
interface Condition {
  /** The header with the condition. */
  readonly header: string;
  readonly field: 'if_version' | 'if_exists';
  /** A version from 1, 0 if nothing may exist, or true if something must. */
  readonly value: number | true;
}

/** The ETag of an answer: its version, or null if it has none. */
export function etagOf({ rest }: Operation, answer: unknown): string | null {
  if (!rest.versioned || !isObject(answer) || !Number.isSafeInteger(answer['version'])) return null;
  return `"${String(answer['version'])}"`;
}

/**
 * Whether If-None-Match contains the answer's ETag. Weak tags count as strong. A malformed header matches nothing,
 * because sending the whole answer is never wrong.
 */
export function isKnown(etag: string, headers: IncomingHttpHeaders): boolean {
  const header = headers['if-none-match'] ?? '';
  if (header === '*') return true;
  const isList = /^[\s,]*$/.test(header.replaceAll(/(?:W\/)?"[^"]*"/g, ''));
  return isList && [...header.matchAll(/"[^"]*"/g)].some(([tag]) => tag === etag);
}

/**
 * The preconditions of RFC 9110. We refuse those that we don't support, so that no caller finds out from lost data that
 * we ignored one.
 */
const PRECONDITIONS = [
  'If-Match',
  'If-None-Match',
  'If-Unmodified-Since',
  'If-Modified-Since',
] as const;

type Precondition = (typeof PRECONDITIONS)[number];

const NONE: readonly Precondition[] = [];
/** These only save a read its body, so ignoring them is harmless. */
const OF_READS: readonly Precondition[] = ['If-None-Match', 'If-Modified-Since'];
const OF_VERSIONS: Readonly<Record<Method, readonly Precondition[]>> = {
  GET: NONE,
  POST: NONE,
  PUT: ['If-Match', 'If-None-Match'],
  DELETE: ['If-Match'],
};

/** The preconditions that can tell an operation what it changes. */
export function versionConditions({ rest, input }: Operation): readonly Precondition[] {
  return rest.versioned && 'if_version' in input.shape ? OF_VERSIONS[rest.method] : NONE;
}

/**
 * What the headers ask for: one version, any version (`If-Match: *`) or none (`If-None-Match: *`). VALIDATION_FAILED if
 * they ask for anything else, and for each precondition that the operation doesn't support.
 */
export function conditionOf(operation: Operation, headers: IncomingHttpHeaders): Condition | null {
  refuseUntaken(operation, headers);
  if (operation.rest.method === 'GET') return null;
  const match = headers['if-match'];
  const noneMatch = headers['if-none-match'];
  if (noneMatch === undefined) {
    return match === undefined ? null : matchCondition(match);
  }
  const header = 'If-None-Match';
  if (match !== undefined) throw invalid({ path: header, message: 'Not together with If-Match.' });
  if (noneMatch !== '*') throw invalid({ path: header, message: 'Expected `*`.' });
  return { header, field: 'if_version', value: 0 };
}

function refuseUntaken(operation: Operation, headers: IncomingHttpHeaders): void {
  const given = PRECONDITIONS.filter((name) => headers[name.toLowerCase()] !== undefined);
  if (given.length === 0) return;
  const taken = operation.rest.method === 'GET' ? OF_READS : versionConditions(operation);
  const untaken = given.filter((name) => !taken.includes(name));
  if (untaken.length === 0) return;
  throw invalid(
    ...untaken.map((path) => ({ path, message: 'This operation takes no such precondition.' })),
  );
}

/** `*`, or one strong ETag; versions start at 1. */
function matchCondition(tag: string): Condition {
  const header = 'If-Match';
  if (tag === '*') return { header, field: 'if_exists', value: true };
  const value = Number(/^"([1-9]\d*)"$/.exec(tag)?.[1]);
  if (Number.isSafeInteger(value)) return { header, field: 'if_version', value };
  throw invalid({ path: header, message: 'Expected `*` or one ETag as answered, such as `"3"`.' });
}

/** Puts a condition into the input. Its field may be there already, but only with the same value. */
export function setCondition(input: Record<string, unknown>, condition: Condition | null): void {
  if (!condition) return;
  const { header, field, value } = condition;
  const given = input[field];
  if (given !== undefined && given !== value) {
    throw invalid({ path: header, message: `The field \`${field}\` says something else.` });
  }
  input[field] = value;
}
