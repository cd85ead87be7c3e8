import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono, type Context } from 'hono';
import {
  admittedOf,
  commonHeaders,
  credentialsOf,
  errorResponse,
  logOf,
  methodNotAllowed,
  reply,
  type HttpEnv,
  type OnInternalError,
} from '../../shared/api/http.ts';
import { isoTime, type Clock } from '../../shared/lib/clock.ts';
import type { ServerInfo } from '../../shared/kernel/context.ts';
import { outside } from '../../shared/kernel/disk-limit.ts';
import {
  asServiceError,
  ServiceError,
  unavailable,
  type ErrorCode,
} from '../../shared/lib/errors.ts';
import type { Credentials } from '../../shared/kernel/executor.ts';
import { mayCall, type Scope } from '../../shared/lib/scopes.ts';
import type { Authenticator, KnownCaller } from '../auth/authenticate.ts';
import type { Project } from '../projects/project.ts';
import { EventStream, whenClosed } from '../replica/event-stream.ts';
import type { ReplicaSource } from '../replica/source.ts';

/** A replica holds the whole project, so its key needs all scopes that read. */
const SCOPES: readonly Scope[] = ['inbox:read', 'approvals', 'disk', 'ledger:read'];
const LIMITED =
  "A replica is the whole project, so its key can't be limited to prefixes of the disk.";
/** How often an open stream records the use of its key, and keeps the log for replicas even without commits. */
const USE_MS = 3_600_000;
/** The largest generation or frame number. */
const U32_MAX = 2 ** 32 - 1;
const NO_STORE = { 'Cache-Control': 'no-store' };

export interface ReplicaDeps {
  readonly authenticator: Authenticator;
  readonly source: ReplicaSource;
  readonly clock: Clock;
  readonly server: ServerInfo;
  readonly onInternal: OnInternalError;
}

type Answer = (c: Context<HttpEnv>, known: KnownCaller) => Promise<Response>;

/**
 * Serves replicas: libSQL's sync protocol under `/v1/replica/{epoch}`, the project's position, and a stream of its
 * changes. Replicas are read only. The protocol's client reads a 500, or a 400 with a `generation`, as the end of a
 * generation, so every failure is a 503, and an impossible request is a 404.
 */
export function replicaRoutes(deps: ReplicaDeps): Hono<HttpEnv> {
  const { source } = deps;
  const app = new Hono<HttpEnv>();
  const route = (path: string, method: 'GET' | 'POST', answer: Answer): void => {
    app.all(`/v1/replica${path}`, (c) => respond(deps, c, method, answer));
  };
  route('', 'GET', (c, known) => replicationState(deps, c, known));
  route('/changes', 'GET', (c, known) => changes(deps, c, known));
  route('/:epoch/info', 'GET', async (c, { project }) => {
    const generation = await source.generation(project, epochOf(c));
    return json(c, { current_generation: generation });
  });
  route('/:epoch/export/:generation', 'GET', (c, { project }) => exported(deps, c, project));
  route('/:epoch/sync/:generation/:from/:to', 'GET', (c, { project }) => frames(deps, c, project));
  for (const version of ['v2', 'v3']) {
    route(`/:epoch/${version}/pipeline`, 'POST', () => {
      throw new ServiceError('SCOPE_MISSING', {
        hint: 'No scope allows SQL: replicas are read only. Writes are operations, see /v1/openapi.json.',
      });
    });
  }
  return app;
}

async function respond(
  { authenticator, onInternal }: ReplicaDeps,
  c: Context<HttpEnv>,
  method: string,
  answer: Answer,
): Promise<Response> {
  try {
    if (c.req.method !== method) throw methodNotAllowed([method]);
    const known = await authenticator.identify(readerOf(c));
    requireScopes(known);
    admittedOf(c.env).proved('api', known.project.info.id);
    return await answer(c, known);
  } catch (error) {
    const shown = asServiceError(error);
    return errorResponse(shown.status === 500 ? unavailable(5, error) : shown, c, onInternal);
  }
}

/** Drops the Idempotency-Key: nothing here writes, and a client of the protocol couldn't handle its refusal. */
function readerOf(c: Context<HttpEnv>): Credentials {
  return { ...credentialsOf(c), idempotencyKey: undefined };
}

function requireScopes({ caller }: KnownCaller): void {
  const { diskPrefixes, scopes } = caller;
  if (diskPrefixes !== null) throw outside(diskPrefixes, LIMITED);
  const missing = SCOPES.find((scope) => !mayCall(scopes, scope, 'read'));
  if (missing === undefined) return;
  throw new ServiceError('SCOPE_MISSING', {
    details: { scope: missing },
    hint: `A replica is the whole project. Its key needs ${SCOPES.join(', ')}; disk:read will do for disk.`,
  });
}

function json(c: Context<HttpEnv>, value: unknown, status = 200): Response {
  const headers = { 'Content-Type': 'application/json', ...NO_STORE };
  return reply(c, JSON.stringify(value), status, headers);
}

async function replicationState(
  { authenticator, clock, server, source }: ReplicaDeps,
  c: Context<HttpEnv>,
  known: KnownCaller,
): Promise<Response> {
  const { project } = known;
  authenticator.note(known);
  const schemaVersion = await project.store.read((store) => store.meta.schemaVersion());
  const { epoch, generation, position } = await source.position(project);
  const { version, urls, channels, telegramBot, mail } = server;
  return json(c, {
    epoch,
    generation,
    position,
    schema_version: schemaVersion,
    time: isoTime(clock.now()),
    project: project.info,
    server: {
      version,
      urls,
      channels,
      telegram_bot: telegramBot,
      keeps_mail: mail.isKept === true,
    },
  });
}

async function exported(
  { source, onInternal }: ReplicaDeps,
  c: Context<HttpEnv>,
  project: Project,
): Promise<Response> {
  const generation = wholeNumber(c, 'generation');
  const copy = await source.copy(project, epochOf(c), generation);
  const headers = commonHeaders(c, {
    'Content-Type': 'application/vnd.sqlite3',
    'Content-Length': String(copy.sizeBytes),
    ...NO_STORE,
  });
  try {
    await copy.send(c.env, 200, headers);
  } catch (error) {
    if (!c.env.outgoing.headersSent) throw error;
    logOf(c, onInternal)(error, c.get('requestId'));
  }
  return RESPONSE_ALREADY_SENT;
}

async function frames(
  { source }: ReplicaDeps,
  c: Context<HttpEnv>,
  project: Project,
): Promise<Response> {
  const wanted = {
    epoch: epochOf(c),
    generation: wholeNumber(c, 'generation'),
    from: wholeNumber(c, 'from'),
    to: wholeNumber(c, 'to'),
  };
  if (wanted.to <= wanted.from) throw nowhere('to', 'must be greater than `from`');
  const found = await source.frames(project, wanted);
  if ('newest' in found) return json(c, { generation: found.newest }, 400);
  void whenClosed(c.env).then(found.release);
  const type = { 'Content-Type': 'application/octet-stream' };
  return reply(c, found.frames, 200, { ...type, ...NO_STORE });
}

/** Streams changes until the client leaves or its key ends. */
async function changes(
  deps: ReplicaDeps,
  c: Context<HttpEnv>,
  known: KnownCaller,
): Promise<Response> {
  const { project, expiresAt } = known;
  deps.authenticator.note(known);
  await deps.source.position(project);
  const headers = commonHeaders(c, {
    'Content-Type': 'text/event-stream',
    'X-Accel-Buffering': 'no',
    ...NO_STORE,
  });
  const stream = new EventStream(c.env, headers);
  const leave = project.feed.join({
    keyId: known.caller.keyId,
    expiresAt,
    refusal: refusalOf(deps, readerOf(c)),
    send: (text) => stream.send(text),
    end: (text) => stream.end(text),
  });
  await stream.closed;
  leave();
  return RESPONSE_ALREADY_SENT;
}

/** Returns a check that says why a key may no longer listen; null while it may. */
function refusalOf(
  { authenticator, clock, source }: ReplicaDeps,
  credentials: Credentials,
): () => Promise<ErrorCode | null> {
  let notedAt = clock.now();
  return async () => {
    try {
      const known = await authenticator.identify(credentials);
      requireScopes(known);
      if (clock.now() - notedAt < USE_MS) return null;
      notedAt = clock.now();
      authenticator.note(known);
      await source.position(known.project);
      return null;
    } catch (error) {
      return error instanceof ServiceError ? error.code : 'UNAVAILABLE';
    }
  };
}

function epochOf(c: Context<HttpEnv>): string {
  return c.req.param('epoch') ?? '';
}

/** Reads a number from 1. Anything else is a 404, because a 400 would mean something else to the client. */
function wholeNumber(c: Context<HttpEnv>, name: string): number {
  const text = c.req.param(name) ?? '';
  const value = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : 0;
  if (value === 0 || value > U32_MAX) throw nowhere(name, `must be a number from 1 to ${U32_MAX}`);
  return value;
}

function nowhere(name: string, why: string): ServiceError {
  return new ServiceError('NOT_FOUND', { hint: `\`${name}\` ${why}.` });
}
