import { Hono } from 'hono';
import type { ServerInfo } from '../context.ts';
import { ServiceError } from '../errors.ts';
import type { Executor } from '../executor.ts';
import { once } from '../once.ts';
import { operations } from '../operations/index.ts';
import {
  errorResponse,
  identify,
  methodNotAllowed,
  reply,
  type HttpEnv,
  type OnInternalError,
} from './http.ts';
import { mcpRoutes } from './mcp.ts';
import { openApiDocument } from './openapi.ts';
import { restRoutes } from './rest.ts';

/** Requests get an id, and whatever goes wrong is answered in the common form. `missing` is for what leads nowhere. */
export function emptyApp(
  onInternal: OnInternalError,
  missing: (path: string) => ServiceError = () => new ServiceError('NOT_FOUND'),
): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.use(identify);
  app.onError((error, c) => errorResponse(error, c, onInternal));
  app.notFound((c) => errorResponse(missing(c.req.path), c, onInternal));
  return app;
}

/** The operations over an executor: REST, MCP and the document that describes them. */
export function mountApi(
  app: Hono<HttpEnv>,
  {
    executor,
    server,
    onInternal,
    signIn = false,
  }: {
    readonly executor: Executor;
    readonly server: Pick<ServerInfo, 'urls' | 'version'>;
    readonly onInternal: OnInternalError;
    /** Whether the document describes the routes of signing in. */
    readonly signIn?: boolean;
  },
): void {
  const document = once(() => JSON.stringify(openApiDocument(operations, server, { signIn })));
  app.get('/v1/openapi.json', (c) =>
    reply(c, document(), 200, { 'Content-Type': 'application/json' }),
  );
  app.all('/v1/openapi.json', () => {
    throw methodNotAllowed(['GET']);
  });
  app.route('/mcp', mcpRoutes(executor, operations, { serverVersion: server.version, onInternal }));
  app.route('/', restRoutes(executor, operations, onInternal));
}
