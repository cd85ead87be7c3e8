import { Hono, type Context } from 'hono';
import type { Caller } from '../../kernel/context.ts';
import type { ErrorCode, ServiceError } from '../../lib/errors.ts';
import { stringifyExact } from '../../lib/json/exact-json.ts';
import type { Answer, Executor } from '../../kernel/executor.ts';
import { once } from '../../lib/once.ts';
import { mayWait, waitField, type Method, type Operation } from '../../kernel/operation.ts';
import { markHeaders } from '../answer-marks.ts';
import { callerGone } from '../caller-gone.ts';
import { heldJson, LATE, QUIET_MS, within } from '../held-json.ts';
import {
  admittedOf,
  breakOff,
  credentialsOf,
  errorResponse,
  methodNotAllowed,
  reply,
  type HttpEnv,
  type OnInternalError,
} from '../http.ts';
import { reworded, withRoutes } from '../names.ts';
import { queryKinds, readInput } from './input.ts';
import { etagOf, isKnown } from '../version-headers.ts';

interface Route {
  readonly operation: Operation;
  readonly kinds: () => ReturnType<typeof queryKinds>;
  /** Operations that share the route; the request means one of them if the body has its field. */
  readonly others: Operation[];
}

interface RestSite {
  readonly executor: Executor;
  readonly onInternal: OnInternalError;
  /** Names routes in place of operations. */
  readonly routed: (text: string) => string;
  /** Headers say how old an answer is, so none begins before it's known. */
  readonly tellsAge: boolean;
}

/** Hints with names that aren't routes: the specification words them, or they speak of the tools that a policy names. */
const AS_WORDED: ReadonlySet<ErrorCode> = new Set([
  'CHANNEL_EXISTS',
  'CHANNEL_NOT_VERIFIED',
  'EMAIL_SOURCE_EXISTS',
  'POLICY_INVALID',
]);

/** REST over the operations: each route follows its operation's `rest` shape and adds nothing. */
export function restRoutes(
  executor: Executor,
  operations: readonly Operation[],
  onInternal: OnInternalError,
  { tellsAge = false }: Partial<Pick<RestSite, 'tellsAge'>> = {},
): Hono<HttpEnv> {
  const routed = withRoutes(operations);
  const site = { executor, onInternal, routed, tellsAge };
  const app = new Hono<HttpEnv>();
  const hintOf = ({ code, hint }: ServiceError): string | null =>
    hint === null || AS_WORDED.has(code) ? hint : routed(hint);
  const byPath = new Map<string, Map<Method, Route>>();
  for (const operation of operations) {
    const methods = byPath.get(operation.rest.path) ?? new Map<Method, Route>();
    const { method, when } = operation.rest;
    if (when !== undefined) methods.get(method)?.others.push(operation);
    else methods.set(method, { operation, kinds: once(() => queryKinds(operation)), others: [] });
    byPath.set(operation.rest.path, methods);
  }
  for (const [path, methods] of byPath) {
    app.all(honoPath(path), async (c) => {
      try {
        return await respond(site, methods, c);
      } catch (error) {
        return errorResponse(error, c, onInternal, hintOf);
      }
    });
  }
  return app;
}

/** `{id}` is one segment; `{key+}` is the whole rest, including line separators. */
function honoPath(path: string): string {
  return path.replace(/\{(\w+)\+\}/, ':$1{[\\s\\S]+}').replaceAll(/\{(\w+)\}/g, ':$1');
}

/** The second keeps nginx from buffering. */
const HELD_HEADERS = {
  'Content-Type': 'application/json',
  'X-Accel-Buffering': 'no',
  'Cache-Control': 'no-store',
};

async function respond(
  { executor, onInternal, routed, tellsAge }: RestSite,
  methods: ReadonlyMap<Method, Route>,
  c: Context<HttpEnv>,
): Promise<Response> {
  // A HEAD is a GET whose body the server leaves out.
  const method = c.req.method === 'HEAD' ? 'GET' : c.req.method;
  const route = methods.get(method as Method);
  if (!route) throw methodNotAllowed([...methods.keys()]);
  const target = c.env.incoming.url ?? '/';
  const caller = await executor.authenticate(credentialsOf(c));
  const headers = route.operation.effect === 'wait' ? {} : executor.meter(caller);
  admittedOf(c.env).proved('api', caller.projectId);
  const input = await readInput(route.operation, route.kinds(), c.env, target);
  const operation = meant(route, input);
  const running = run(executor, operation, input, caller, c).then((answer) => ({
    ...answer,
    value: reworded(answer.value, routed),
  }));
  const answer = !tellsAge && holds(operation, c) ? await within(running, QUIET_MS) : await running;
  if (answer !== LATE) return success(operation, answer, c, headers);
  const json = running.then(({ value }) => stringifyExact(value));
  const broken = (error: unknown): void => breakOff(c, error, onInternal);
  const held = heldJson(json, { everyMs: QUIET_MS, broken });
  return reply(c, held, 200, { ...HELD_HEADERS, ...headers });
}

/** Whether its answer may begin before it's known: a wait whose status is always 200. */
function holds(operation: Operation, c: Context<HttpEnv>): boolean {
  const { method, accepted, status = 200 } = operation.rest;
  const isSure = accepted === undefined && status === 200 && c.req.method === method;
  return isSure && waitField(operation) !== null;
}

function meant({ operation, others }: Route, input: Readonly<Record<string, unknown>>): Operation {
  return others.find(({ rest }) => Object.hasOwn(input, rest.when ?? '')) ?? operation;
}

function success(
  operation: Operation,
  answer: Answer,
  c: Context<HttpEnv>,
  metered: Readonly<Record<string, string>>,
): Response {
  const { rest } = operation;
  const { value } = answer;
  const etag = etagOf(operation, value);
  const headers = {
    'Cache-Control': 'no-store',
    ...(etag !== null && { ETag: etag }),
    ...markHeaders(answer),
    ...metered,
  };
  if (etag !== null && rest.method === 'GET' && isKnown(etag, c.env.incoming.headers)) {
    return reply(c, null, 304, headers);
  }
  const body = stringifyExact(value);
  const status = rest.accepted?.(value as Record<string, unknown>) ? 202 : (rest.status ?? 200);
  return reply(c, body, status, { 'Content-Type': 'application/json', ...headers });
}

const NEVER = new AbortController().signal;

async function run(
  executor: Executor,
  operation: Operation,
  input: unknown,
  caller: Caller,
  c: Context<HttpEnv>,
): Promise<Answer> {
  if (!mayWait(operation)) return executor.execute(operation, input, caller, NEVER);
  const gone = callerGone(c.env.outgoing);
  try {
    return await executor.execute(operation, input, caller, gone.signal);
  } finally {
    gone.stop();
  }
}
