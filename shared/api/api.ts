import { Hono } from 'hono';
import type { ServerInfo } from '../kernel/context.ts';
import { ServiceError } from '../lib/errors.ts';
import type { Executor } from '../kernel/executor.ts';
import { operations } from '../operations/index.ts';
import {
  errorResponse,
  identify,
  methodNotAllowed,
  reply,
  type HttpEnv,
  type OnInternalError,
} from './http.ts';
import { mountGuide } from './guide.ts';
import { mcpRoutes } from './mcp/routes.ts';
import { ServicePrompts } from './mcp/resources/prompts.ts';
import { ProjectResources } from './mcp/resources/resources.ts';
import type { McpTables } from './mcp/tables.ts';
import { ServiceTasks } from './mcp/tasks/tasks.ts';
import { ToolBook } from './mcp/tools.ts';
import { openApiDocument } from './openapi/document.ts';
import { inSteps } from '../lib/in-steps.ts';
import { ReadyDocument } from './ready-document.ts';
import { restRoutes } from './rest/routes.ts';
import { refuseDotSegments } from './target.ts';

const SHOWN_PATH_MAX_CHARS = 200;
/** For an agent that has only the address. */
const GUIDE_HINT = 'GET /llms.txt says how to use this service.';

/**
 * An app that gives each request an id, refuses paths that URL parsers would change, and answers every error in the
 * common form. `missing` makes the error for unknown paths.
 */
export function emptyApp(
  onInternal: OnInternalError,
  missing: (path: string) => ServiceError = nothingAt,
): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.use(identify, (c, next) => {
    refuseDotSegments(c.env.incoming.url ?? '/');
    return next();
  });
  app.onError((error, c) => errorResponse(error, c, onInternal));
  app.notFound((c) => errorResponse(missing(c.req.path), c, onInternal));
  return app;
}

/** Sends a browser that opens the bare address to the web inbox. Programs get the JSON error for unknown paths. */
export function leadBrowsers(app: Hono<HttpEnv>, webInbox: string): void {
  app.get('/', async (c, next) => {
    const isBrowser = c.req.header('accept')?.includes('text/html') ?? false;
    if (isBrowser) return reply(c, null, 302, { Location: webInbox, 'Cache-Control': 'no-store' });
    return next();
  });
}

/** Names the path only under /v1, because other paths may contain a token. */
export function nothingAt(path: string): ServiceError {
  if (path === '/') return new ServiceError('NOT_FOUND', { hint: GUIDE_HINT });
  const shown = path.slice(0, SHOWN_PATH_MAX_CHARS);
  return new ServiceError(
    'NOT_FOUND',
    path.startsWith('/v1/') ? { hint: `No route ${shown}.` } : {},
  );
}

/** Mounts the operations of an executor: REST, MCP and the OpenAPI document, and the guide to them. */
export function mountApi(
  app: Hono<HttpEnv>,
  {
    executor,
    server,
    onInternal,
    signIn = false,
    oauth = false,
    isReplica = false,
  }: {
    readonly executor: Executor;
    readonly server: Pick<ServerInfo, 'urls' | 'contentUrl' | 'version'>;
    readonly onInternal: OnInternalError;
    /** Whether the document describes the sign-in routes. */
    readonly signIn?: boolean;
    /** Whether MCP clients can sign people in by OAuth. */
    readonly oauth?: boolean;
    /** Whether a copy may answer, whose answers say how old they are. */
    readonly isReplica?: boolean;
  },
): void {
  const document = new ReadyDocument(
    async () => JSON.stringify(await inSteps(openApiDocument(operations, server, { signIn }))),
    { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache' },
  );
  app.get('/v1/openapi.json', (c) => document.answer(c));
  app.all('/v1/openapi.json', () => {
    throw methodNotAllowed(['GET']);
  });
  const allowedOrigin = isOwnOrigin(server.urls.api);
  const options = {
    serverVersion: server.version,
    onInternal,
    allowedOrigin,
    ...(oauth && { oauthUrl: server.urls.mcp }),
  };
  const mcp = mcpRoutes(executor, mcpTables(), options);
  app.route('/mcp', mcp);
  app.route('/mcp/', mcp);
  mountGuide(app);
  app.route('/', restRoutes(executor, operations, onInternal, { tellsAge: isReplica }));
}

/** The tools, resources and prompts that agents find over MCP. */
export function mcpTables(): McpTables {
  return {
    tools: new ToolBook(operations),
    resources: new ProjectResources(),
    prompts: new ServicePrompts(),
    tasks: new ServiceTasks(),
  };
}

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

/** Recognizes the origin of pages under this URL; for a loopback address, under each of its names. */
export function isOwnOrigin(url: string): (origin: string) => boolean {
  const { origin, protocol, hostname, port } = new URL(url);
  const names = LOOPBACK_NAMES.includes(hostname) ? LOOPBACK_NAMES : [];
  const origins = new Set([
    origin,
    ...names.map((name) => new URL(`${protocol}//${name}:${port}`).origin),
  ]);
  return (asked) => origins.has(asked);
}
