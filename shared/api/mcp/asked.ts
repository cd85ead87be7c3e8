import type { Operation } from '../../kernel/operation.ts';
import { LIST_MAX } from '../../lib/limits.ts';
import { isObject } from '../../lib/guards.ts';
import type { CallSite, Completion } from './tables.ts';

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

/** The names in a list that start with a prefix. */
export async function namesBeginning(
  prefix: string,
  { operation, field }: { readonly operation: Operation; readonly field: string },
  site: CallSite,
): Promise<Completion> {
  const { items, next } = await askList(operation, { prefix, limit: LIST_MAX }, site);
  return { values: items.map((item) => String(item[field])), hasMore: next !== null };
}
