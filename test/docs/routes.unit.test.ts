import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { wholeDocument } from '../surface/doors/document.ts';
import { allPages } from './pages.ts';

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const { paths } = wholeDocument() as Described;

/** What the OpenAPI document has, with any word in place of a parameter. */
const routes = Object.entries(paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => ({
    method: method.toUpperCase(),
    path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/\\s]+')}$`),
  })),
);

const METHOD = 'GET|POST|PUT|PATCH|DELETE';
/** `POST /v1/inbox/claim`, also in `GET` and `POST /v1/sources`. */
const NAMED = new RegExp(`((?:\`?(?:${METHOD})\`?(?:,| and| or)? )+)(/v1/[\\w{}/%.-]*[\\w}])`, 'g');

function namedRoutes(page: string): { readonly method: string; readonly path: string }[] {
  return [...page.matchAll(NAMED)].flatMap(([, methods = '', path = '']) =>
    (methods.match(new RegExp(METHOD, 'g')) ?? []).map((method) => ({ method, path })),
  );
}

/** It describes itself nowhere. */
const OF_THE_DOCUMENT = 'GET /v1/openapi.json';

function missing(page: string): string[] {
  return namedRoutes(page)
    .filter(
      (named) => !routes.some((one) => one.method === named.method && one.path.test(named.path)),
    )
    .map(({ method, path }) => `${method} ${path}`)
    .filter((route) => route !== OF_THE_DOCUMENT);
}

it.each(allPages())('names only routes that the OpenAPI document has: %s', (path) => {
  expect(missing(readFileSync(path, 'utf8'))).toEqual([]);
});

it('finds a route with the wrong method, and one that does not exist', () => {
  expect(
    missing('`GET /v1/ledger/verify`, `GET` and `POST /v1/sources`, PUT /v1/kv/color'),
  ).toEqual(['GET /v1/ledger/verify']);
  expect(missing('POST /v1/inbox/clam')).toEqual(['POST /v1/inbox/clam']);
});
