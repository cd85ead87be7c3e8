/** Whether a text is a JSON pointer (RFC 6901): empty, or names that each follow a `/`. */
export function isPointer(text: string): boolean {
  return /^(?:\/(?:[^~/]|~[01])*)*$/.test(text);
}

/** The value at a pointer; undefined if there's none. */
export function valueAt(value: unknown, pointer: string): unknown {
  let found = value;
  for (const escaped of pointer.split('/').slice(1)) {
    const name = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null) return undefined;
    if (Array.isArray(found) && !/^(?:0|[1-9]\d*)$/.test(name)) return undefined;
    if (!Object.hasOwn(found, name)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[name];
  }
  return found;
}
