import { invalid } from '../lib/errors.ts';
import { operations } from '../operations/index.ts';

/** The path of a request target, exactly as sent. A client may send a whole URL there, as to a proxy. */
function rawPath(target: string): string {
  const start = target.startsWith('/') ? 0 : (/^https?:\/\/[^/?#]*/i.exec(target)?.[0].length ?? 0);
  const end = target.search(/[?#]/);
  return target.slice(start, end < 0 ? undefined : end);
}

/**
 * Refuses `.` and `..` segments, plain or encoded: URL parsers remove them, so the path would reach a different route
 * than written. The error names the parameter that the segment was meant for.
 */
export function refuseDotSegments(target: string): void {
  if (!target.includes('.') && !/%2e/i.test(target)) return;
  const segments = rawPath(target).split('/');
  const index = segments.findIndex((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
  if (index < 0) return;
  const path = parameterAt(segments, index) ?? 'path';
  throw invalid({ path, message: 'The segments `.` and `..` are not allowed.' });
}

/** The API parameter that contains this segment. */
function parameterAt(segments: readonly string[], index: number): string | undefined {
  for (const { rest } of operations) {
    const parts = rest.path.split('/');
    const at = Math.min(index, parts.length - 1);
    const [, name, takesRest] = /^\{(\w+)(\+?)\}$/.exec(parts[at] ?? '') ?? [];
    const isThere = parts.slice(0, at).every((part, n) => part === segments[n]);
    if (isThere && (at === index || takesRest)) return name;
  }
  return undefined;
}

/**
 * Path parameters from the raw target, decoded once, so that `%2F` in a segment stays part of its value. A last
 * parameter written as `{name+}` takes the whole rest, with `/` as it is or as `%2F`.
 */
export function pathParameters(template: string, target: string): [string, string][] {
  const parts = rawPath(target).split('/');
  const found: [string, string][] = [];
  for (const [index, segment] of template.split('/').entries()) {
    const name = /^\{(\w+)(\+?)\}$/.exec(segment);
    if (!name?.[1]) continue;
    const raw = name[2] === '+' ? parts.slice(index).join('/') : (parts[index] ?? '');
    found.push([name[1], decoded(name[1], raw)]);
  }
  return found;
}

function decoded(name: string, raw: string): string {
  try {
    return decodeURIComponent(raw);
  } catch {
    throw invalid({ path: name, message: 'Not valid percent-encoded UTF-8.' });
  }
}
