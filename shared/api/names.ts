import type { Operation } from '../kernel/operation.ts';
import { isObject } from '../lib/guards.ts';
import { once } from '../lib/once.ts';

type Route = Pick<Operation['rest'], 'method' | 'path'>;

/** An operation's name in a sentence. Between backticks it's a value, such as a ledger entry's `inbox_ack`. */
const NAME = /(?<![\w.`])[a-z]+(?:_[a-z]+)+(?![\w`])/g;
const ROUTE = /\b(?:GET|POST|PUT|DELETE) \/v1\/[\w{}/-]*[\w}]/g;

/** `GET /v1/files/{path}` */
function routeName({ method, path }: Route): string {
  return `${method} ${path.replace('+}', '}')}`;
}

/** Replaces the names of operations in a text with their routes, for callers over REST. */
export function withRoutes(operations: readonly Operation[], quote = ''): (text: string) => string {
  const routes = once(
    () => new Map(operations.map(({ name, rest }) => [name, quote + routeName(rest) + quote])),
  );
  return (text) => text.replace(NAME, (name) => routes().get(name) ?? name);
}

/** The reverse of `withRoutes`: for a text that came over REST and goes on over MCP. */
export function withNames(operations: readonly Operation[]): (text: string) => string {
  // Where two operations share a route, the first is meant.
  const names = once(
    () => new Map(operations.toReversed().map(({ name, rest }) => [routeName(rest), name])),
  );
  return (text) => text.replace(ROUTE, (route) => names().get(route) ?? route);
}

/**
 * An answer with its `hint`, and those of the records in its lists, in the words of an interface. What others wrote lies
 * deeper and stays as it is.
 */
export function reworded(answer: unknown, words: (text: string) => string): unknown {
  if (!isObject(answer)) return answer;
  const lists = Object.entries(answer).flatMap(([name, list]) =>
    Array.isArray(list) && list.some(hasHint)
      ? [[name, list.map((one: unknown) => withHint(one, words))] as const]
      : [],
  );
  return lists.length === 0 && !hasHint(answer)
    ? answer
    : withHint({ ...answer, ...Object.fromEntries(lists) }, words);
}

function hasHint(one: unknown): one is { readonly hint: string } {
  return isObject(one) && typeof one['hint'] === 'string';
}

function withHint(one: unknown, words: (text: string) => string): unknown {
  return hasHint(one) ? { ...one, hint: words(one.hint) } : one;
}
