import type { Operation } from '../../../shared/kernel/operation.ts';
import { ServiceError } from '../../../shared/lib/errors.ts';
import type { PageContext } from '../inbox/page-context.ts';

/** Reads the items that an operation lists in one answer: all of them, or the one with an id (NOT_FOUND). */
export function allItems<T>(operation: Operation, idOf: (item: T) => string) {
  const all = async (context: PageContext): Promise<readonly T[]> =>
    ((await context.call(operation, {})) as { readonly items: readonly T[] }).items;
  const one = async (context: PageContext, id: string): Promise<T> => {
    const found = (await all(context)).find((item) => idOf(item) === id);
    if (!found) throw new ServiceError('NOT_FOUND');
    return found;
  };
  return { all, one };
}
