type Json = Record<string, unknown>;

/** A document, or a part of it, with every reference to a schema replaced by that schema. */
export function withoutRefs<T>(document: unknown, part: T): T {
  return expanded((document as { components: { schemas: Json } }).components.schemas, part) as T;
}

function expanded(schemas: Json, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => expanded(schemas, one));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref: target } = value as { $ref?: unknown };
  const [, name] = /^#\/components\/schemas\/(\w+)$/.exec(String(target)) ?? [];
  if (name !== undefined) return expanded(schemas, schemas[name]);
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, expanded(schemas, member)]),
  );
}
