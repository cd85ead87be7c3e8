import type { Operation } from '../../../kernel/operation.ts';
import { ServiceError } from '../../../lib/errors.ts';
import { LIST_MAX } from '../../../lib/limits.ts';
import { isObject } from '../../../lib/guards.ts';
import type { CallSite, Completion } from '../tables.ts';

type Fields = Record<string, unknown>;

/** The answer of an operation, or null if it isn't an object. */
export async function ask(
  operation: Operation,
  input: Fields,
  site: CallSite,
): Promise<Fields | null> {
  const { executor, caller, signal } = site;
  const { value } = await executor.execute(operation, input, caller, signal);
  return isObject(value) ? value : null;
}

/** The items of a list, and the cursor of the next page. */
export async function askList(operation: Operation, input: Fields, site: CallSite) {
  const answer = await ask(operation, input, site);
  const items = Array.isArray(answer?.['items']) ? answer['items'].filter(isObject) : [];
  const next = answer?.['next_cursor'];
  return { items, next: typeof next === 'string' ? next : null };
}

/** The names in a list that start with a prefix; none if the key may see nothing there. */
export async function namesBeginning(
  prefix: string,
  { operation, field }: { readonly operation: Operation; readonly field: string },
  site: CallSite,
): Promise<Completion> {
  const asked = askList(operation, { prefix, limit: LIST_MAX }, site);
  const { items, next } = await asked.catch(nothingIfOutside);
  return { values: items.map((item) => String(item[field])), hasMore: next !== null };
}

function nothingIfOutside(error: unknown): { items: Fields[]; next: null } {
  if (error instanceof ServiceError && error.code === 'SCOPE_MISSING')
    return { items: [], next: null };
  throw error;
}
