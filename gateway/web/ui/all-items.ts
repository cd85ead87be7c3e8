import type * as z from 'zod';
import type { TypedOperation } from '../../../shared/kernel/operation.ts';
import { ServiceError } from '../../../shared/lib/errors.ts';
import type { PageContext } from '../inbox/page-context.ts';

/** The answer of an operation that lists its items in one page. */
type ItemList<T extends z.ZodType> = z.ZodObject<{
  items: z.ZodArray<T>;
  next_cursor: z.ZodType<string | null>;
}>;

/** Reads the items that an operation lists in one answer: all of them, or the one with an id (NOT_FOUND). */
export function allItems<T extends z.ZodType>(
  operation: TypedOperation<z.ZodObject, ItemList<T>>,
  idOf: (item: z.output<T>) => string,
) {
  const all = async (context: PageContext): Promise<readonly z.output<T>[]> =>
    (await context.call(operation, {})).items;
  const one = async (context: PageContext, id: string): Promise<z.output<T>> => {
    const found = (await all(context)).find((item) => idOf(item) === id);
    if (!found) throw new ServiceError('NOT_FOUND');
    return found;
  };
  return { all, one };
}
