import type { PageContext } from '../inbox/page-context.ts';

export type Query = Readonly<Record<string, string>>;

/** The fields of the query that a link keeps. */
export function keptQuery(context: PageContext, names: readonly string[]): Query {
  const given = names.map((name) => [name, context.query(name)] as const);
  return Object.fromEntries(
    given.filter((field): field is [string, string] => field[1] !== undefined),
  );
}

/** What a query filters by. */
export type QueryFilter<Name extends string> = Readonly<Partial<Record<Name, string>>>;

/** An empty field of a form doesn't filter. */
export function filledIn<Name extends string>(
  context: PageContext,
  names: readonly Name[],
): QueryFilter<Name> {
  const filled: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const value = context.query(name)?.trim() ?? '';
    if (value !== '') filled[name] = value;
  }
  return filled;
}

/** A link to the current page with another query. */
export function queryUrl(query: Query): string {
  return `?${new URLSearchParams(query).toString()}`;
}
