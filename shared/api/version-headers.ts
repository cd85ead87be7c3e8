import type { IncomingHttpHeaders } from 'node:http';
import { invalid } from '../lib/errors.ts';
import type { Method, Operation } from '../kernel/operation.ts';
import { isObject } from '../lib/guards.ts';

/** The stored version that a write expects: an integer from 1, or 0 if nothing may exist. */
interface Condition {
  /** The header with the condition. */
  readonly header: string;
  readonly version: number;
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

/** The preconditions that can tell an operation which version it changes. */
export function versionConditions({ rest, input }: Operation): readonly Precondition[] {
  return rest.versioned && 'if_version' in input.shape ? OF_VERSIONS[rest.method] : NONE;
}

/**
 * The version that the headers ask for. VALIDATION_FAILED if they don't name exactly one version or none, and for each
 * precondition that the operation doesn't support.
 */
export function conditionOf(operation: Operation, headers: IncomingHttpHeaders): Condition | null {
  refuseUntaken(operation, headers);
  if (operation.rest.method === 'GET') return null;
  const match = headers['if-match'];
  const noneMatch = headers['if-none-match'];
  if (noneMatch === undefined) {
    return match === undefined ? null : { header: 'If-Match', version: versionIn(match) };
  }
  const header = 'If-None-Match';
  if (match !== undefined) throw invalid({ path: header, message: 'Not together with If-Match.' });
  if (noneMatch !== '*') throw invalid({ path: header, message: 'Expected `*`.' });
  return { header, version: 0 };
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

/** The version in one strong ETag; versions start at 1. */
function versionIn(tag: string): number {
  const version = Number(/^"([1-9]\d*)"$/.exec(tag)?.[1]);
  if (Number.isSafeInteger(version)) return version;
  throw invalid({ path: 'If-Match', message: 'Expected one ETag as answered, such as `"3"`.' });
}

/** Puts a condition into the input. `if_version` may be there already, but only with the same version. */
export function setCondition(input: Record<string, unknown>, condition: Condition | null): void {
  if (!condition) return;
  const { header, version } = condition;
  const given = input['if_version'];
  if (given !== undefined && given !== version) {
    throw invalid({ path: header, message: 'The field `if_version` says something else.' });
  }
  input['if_version'] = version;
}
