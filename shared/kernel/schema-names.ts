import type * as z from 'zod';

const names = new WeakMap<object, string>();

/** Names a schema for the OpenAPI document, where clients find one type under that name. */
export function named<S extends z.ZodType>(name: string, schema: S): S {
  names.set(schema, name);
  return schema;
}

/** The name of a schema, if it has one. */
export function nameOf(schema: object): string | undefined {
  return names.get(schema);
}
