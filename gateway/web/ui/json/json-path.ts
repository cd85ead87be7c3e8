import { isObject } from '../../../../shared/lib/guards.ts';

// Places in a JSON document: in URLs as a JSON Pointer (RFC 6901), for people as jq writes them.

export type JsonKey = string | number;

/** `/data/items/0`; empty for the whole document. */
export function pointerOf(keys: readonly JsonKey[]): string {
  return keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The value at a pointer, with its keys; null if there is none. */
export function valueAt(
  document: unknown,
  pointer: string,
): { readonly keys: readonly JsonKey[]; readonly value: unknown } | null {
  if (pointer === '') return { keys: [], value: document };
  if (!pointer.startsWith('/')) return null;
  const keys: JsonKey[] = [];
  let value = document;
  for (const part of pointer.slice(1).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value) && /^\d{1,7}$/.test(name) && Number(name) < value.length) {
      keys.push(Number(name));
      value = value[Number(name)];
    } else if (isObject(value) && Object.hasOwn(value, name)) {
      keys.push(name);
      value = value[name];
    } else return null;
  }
  return { keys, value };
}

/** One step of a path: `.name`, `[3]` or `["any other"]`, in ASCII. */
export function stepText(key: JsonKey): string {
  if (typeof key === 'number') return `[${key}]`;
  if (/^[A-Za-z_]\w*$/.test(key)) return `.${key}`;
  const escaped = JSON.stringify(key).replaceAll(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `[${escaped}]`;
}

/** `.data.items[0]`; `.` for the whole document. */
export function pathText(keys: readonly JsonKey[]): string {
  const path = keys.map(stepText).join('');
  return path.startsWith('.') ? path : `.${path}`;
}
