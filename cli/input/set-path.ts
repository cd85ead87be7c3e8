import { parseExact } from '../../shared/lib/json/exact-json.ts';
import { isObject } from '../../shared/lib/guards.ts';
import { usageError } from '../errors.ts';

const FORBIDDEN: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
const INDEX_MAX = 1000;

/** Applies `a.b.0.c=value` to a document. The value is parsed as JSON if possible, otherwise it's text. */
export function setPath(document: object, assignment: string): void {
  const at = assignment.indexOf('=');
  const path = assignment.slice(0, Math.max(at, 0)).split('.');
  if (at <= 0 || path.some((part) => part === '' || FORBIDDEN.has(part))) {
    throw usageError(`\`${assignment}\` isn't PATH=VALUE.`, 'For example: --set issue.number=7');
  }
  let place: unknown = document;
  for (const [depth, part] of path.slice(0, -1).entries()) {
    place = step(place, part, /^\d+$/.test(path[depth + 1] ?? ''), assignment);
  }
  put(place, path.at(-1) ?? '', parsed(assignment.slice(at + 1)), assignment);
}

function parsed(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return text;
  }
}

/** Returns the value at this part of the path and creates it if missing. */
function step(place: unknown, part: string, isList: boolean, assignment: string): unknown {
  const found: unknown = Array.isArray(place) || isObject(place) ? own(place, part) : undefined;
  if (found !== undefined && found !== null) return found;
  const made: unknown = isList ? [] : {};
  put(place, part, made, assignment);
  return made;
}

function own(place: object, part: string): unknown {
  return Object.hasOwn(place, part) ? (Reflect.get(place, part) as unknown) : undefined;
}

function put(place: unknown, part: string, value: unknown, assignment: string): void {
  if (Array.isArray(place) && /^\d+$/.test(part) && Number(part) <= INDEX_MAX) {
    place[Number(part)] = value;
  } else if (isObject(place)) {
    place[part] = value;
  } else {
    throw usageError(`\`${assignment}\` doesn't fit the sample: svc can't set \`${part}\` there.`);
  }
}
