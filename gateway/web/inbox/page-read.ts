import * as z from 'zod';
import type { ReadContext } from '../../../shared/kernel/context.ts';
import type { DiskNames } from '../../../shared/kernel/disk-limit.ts';
import type { Executable } from '../../../shared/kernel/operation.ts';

/** A read that only pages make. It runs as operations do, but has no REST, MCP and command. */
export interface PageRead<I, O> extends Executable {
  /** The types of its input and its answer; there is no value. */
  readonly types?: (input: I) => O;
}

/**
 * Declares a read of one snapshot: who may make it, the fields of its input, and what it reads. The executor checks both
 * first. A read that names things on the disk says which field names them, and needs the scope `disk`.
 */
export function pageRead<S extends z.ZodRawShape, O>(
  access: Executable['scope'] | DiskNames,
  fields: S,
  read: (context: ReadContext, input: z.output<z.ZodObject<S>>) => Promise<O>,
): PageRead<z.input<z.ZodObject<S>>, O> {
  return {
    name: 'page_read',
    ...(typeof access === 'string' ? { scope: access } : { scope: 'disk', disk: access }),
    effect: 'read',
    input: z.strictObject(fields),
    output: z.unknown(),
    briefOf: (input) => input,
    handler: {
      kind: 'read',
      run: (context, input) => read(context, input as z.output<z.ZodObject<S>>),
    },
  };
}
