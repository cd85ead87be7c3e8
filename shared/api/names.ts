import type { Operation } from '../kernel/operation.ts';
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
