import type { IncomingHttpHeaders } from 'node:http';
import { invalid } from '../errors.ts';
import type { Operation } from '../operation.ts';
import { isObject } from '../untyped.ts';

/** What a PUT may ask of the version that is stored: an integer from 1, or 0 where there must be none. */
interface Condition {
  /** The header that asks it. */
  readonly header: string;
  readonly version: number;
}

/** The ETag of an answer: the version it tells, where it tells one. */
export function etagOf({ rest }: Operation, answer: unknown): string | null {
  if (!rest.versioned || !isObject(answer) || !Number.isSafeInteger(answer['version'])) return null;
  return `"${String(answer['version'])}"`;
}

/**
 * Whether If-None-Match names what would be answered. Weak tags count as strong ones; a header that is no list of tags
 * matches nothing, as the whole answer is never wrong.
 */
export function isKnown(etag: string, headers: IncomingHttpHeaders): boolean {
  const header = headers['if-none-match'] ?? '';
  if (header === '*') return true;
  const isList = /^[\s,]*$/.test(header.replaceAll(/(?:W\/)?"[^"]*"/g, ''));
  return isList && [...header.matchAll(/"[^"]*"/g)].some(([tag]) => tag === etag);
}

/** Whether a PUT can be told which version to replace. */
export function isConditional({ rest, input }: Operation): boolean {
  return rest.versioned === true && rest.method === 'PUT' && 'if_version' in input.shape;
}

/** What the headers of a PUT ask of the stored version. VALIDATION_FAILED where that is not one version, or none. */
export function conditionOf(operation: Operation, headers: IncomingHttpHeaders): Condition | null {
  if (!operation.rest.versioned || operation.rest.method !== 'PUT') return null;
  const match = headers['if-match'];
  const noneMatch = headers['if-none-match'];
  if (match === undefined && noneMatch === undefined) return null;
  const header = noneMatch === undefined ? 'If-Match' : 'If-None-Match';
  if (!isConditional(operation)) {
    // Whoever asks for a condition must not learn from the damage that there was none.
    throw invalid({ path: header, message: 'There are no conditions here.' });
  }
  if (noneMatch === undefined) return { header, version: versionIn(match ?? '') };
  if (match !== undefined) throw invalid({ path: header, message: 'Not together with If-Match.' });
  if (noneMatch !== '*') throw invalid({ path: header, message: 'Expected `*`.' });
  return { header, version: 0 };
}

/** The version of one strong ETag; none is below 1. */
function versionIn(tag: string): number {
  const version = Number(/^"([1-9]\d*)"$/.exec(tag)?.[1]);
  if (Number.isSafeInteger(version)) return version;
  throw invalid({ path: 'If-Match', message: 'Expected one ETag as answered, such as `"3"`.' });
}

/** Puts a condition into the input, where `if_version` may stand already, but not with another version. */
export function setCondition(input: Record<string, unknown>, condition: Condition | null): void {
  if (!condition) return;
  const { header, version } = condition;
  const given = input['if_version'];
  if (given !== undefined && given !== version) {
    throw invalid({ path: header, message: 'The field `if_version` says something else.' });
  }
  input['if_version'] = version;
}
