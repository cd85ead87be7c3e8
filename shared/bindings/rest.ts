import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { Hono, type Context } from 'hono';
import type { Caller } from '../context.ts';
import { invalid } from '../errors.ts';
import type { Executor } from '../executor.ts';
import { API_BODY_DEFAULT_MAX_BYTES } from '../limits.ts';
import type { Method, Operation } from '../operation.ts';
import { parseBoundedJson } from '../rules/payload.ts';
import { fieldKinds, fromTexts, type FieldKind } from './fields.ts';
import { callerGone } from './caller-gone.ts';
import {
  credentialsOf,
  errorResponse,
  methodNotAllowed,
  type HttpEnv,
  type OnInternalError,
} from './http.ts';
import { readBody, refuseEncoded } from './read-body.ts';
import { pathParameters, refuseDotSegments } from './target.ts';

interface Route {
  readonly operation: Operation;
  readonly kinds: ReadonlyMap<string, FieldKind>;
}

/** REST over the operation list: every route is its operation's `rest` shape and nothing more. */
export function restRoutes(
  executor: Executor,
  operations: readonly Operation[],
  onInternal: OnInternalError,
): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  const byPath = new Map<string, Map<Method, Route>>();
  for (const operation of operations) {
    const methods = byPath.get(operation.rest.path) ?? new Map<Method, Route>();
    methods.set(operation.rest.method, { operation, kinds: fieldKinds(operation) });
    byPath.set(operation.rest.path, methods);
  }
  for (const [path, methods] of byPath) {
    app.all(honoPath(path), (c) => answer(executor, methods, c, onInternal));
  }
  return app;
}

/** `{id}` is one segment; `{key+}` is all the rest. */
function honoPath(path: string): string {
  return path.replace(/\{(\w+)\+\}/, ':$1{.+}').replaceAll(/\{(\w+)\}/g, ':$1');
}

async function answer(
  executor: Executor,
  methods: ReadonlyMap<Method, Route>,
  c: Context<HttpEnv>,
  onInternal: OnInternalError,
): Promise<Response> {
  try {
    // A HEAD is a GET whose body the server leaves out.
    const method = c.req.method === 'HEAD' ? 'GET' : c.req.method;
    const route = methods.get(method as Method);
    if (!route) throw methodNotAllowed([...methods.keys()]);
    const target = c.env.incoming.url ?? '/';
    refuseDotSegments(target);
    const caller = await executor.authenticate(credentialsOf(c));
    const { operation } = route;
    const headers = operation.effect === 'wait' ? {} : executor.meter(caller);
    const input = await readInput(route, c, target);
    const value = await run(executor, operation, input, caller, c);
    return c.body(JSON.stringify(value), operation.rest.status ?? 200, {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      ...headers,
    });
  } catch (error) {
    return errorResponse(error, c, onInternal);
  }
}

const NEVER = new AbortController().signal;

async function run(
  executor: Executor,
  operation: Operation,
  input: unknown,
  caller: Caller,
  c: Context<HttpEnv>,
): Promise<unknown> {
  if (operation.handler.kind !== 'long') return executor.execute(operation, input, caller, NEVER);
  const gone = callerGone(c.env.outgoing);
  try {
    return await executor.execute(operation, input, caller, gone.signal);
  } finally {
    gone.stop();
  }
}

/** Path, then query (GET, DELETE) or JSON body (POST, PUT), as one object. */
async function readInput(
  { operation, kinds }: Route,
  c: Context<HttpEnv>,
  target: string,
): Promise<Record<string, unknown>> {
  const { rest } = operation;
  const input: Record<string, unknown> =
    rest.method === 'GET' || rest.method === 'DELETE'
      ? fromQuery(target, kinds)
      : await jsonBody(c.env.incoming, rest.bodyMaxBytes ?? API_BODY_DEFAULT_MAX_BYTES);
  for (const [name, value] of pathParameters(rest.path, target)) {
    input[rest.params?.[name] ?? name] = value;
  }
  return input;
}

/** Query parameters the operation knows, by their kind; others are ignored. */
function fromQuery(target: string, kinds: Route['kinds']): Record<string, unknown> {
  const start = target.indexOf('?');
  if (start < 0) return {};
  const query = new URLSearchParams(target.slice(start + 1));
  const input: Record<string, unknown> = {};
  for (const [name, kind] of kinds) {
    const texts = query.getAll(name);
    if (texts.length > 0) input[name] = fromTexts(kind, texts);
  }
  return input;
}

async function jsonBody(
  incoming: IncomingMessage,
  maxBytes: number,
): Promise<Record<string, unknown>> {
  const [type] = (incoming.headers['content-type'] ?? '').split(';', 1);
  if (type?.trim().toLowerCase() !== 'application/json') {
    throw invalid({ path: 'Content-Type', message: 'Expected `application/json`.' });
  }
  refuseEncoded(incoming);
  const body = await readBody(incoming, maxBytes);
  const value = isUtf8(body) ? parseBoundedJson(body) : undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid({ path: '', message: 'The body must be a JSON object.' });
  }
  // A copy: `__proto__` in a body becomes an own member that validation refuses, never a prototype.
  return { ...value };
}
