import { Hono, type Context } from 'hono';
import {
  errorResponse,
  identify,
  methodNotAllowed,
  reply,
  type HttpEnv,
  type OnInternalError,
} from '../shared/bindings/http.ts';
import { mcpRoutes } from '../shared/bindings/mcp.ts';
import { openApiDocument } from '../shared/bindings/openapi.ts';
import { restRoutes } from '../shared/bindings/rest.ts';
import type { ServerInfo } from '../shared/context.ts';
import { ServiceError } from '../shared/errors.ts';
import type { Executor } from '../shared/executor.ts';
import { operations } from '../shared/operations/index.ts';
import type { Downloads, FileAnswer, Wanted } from './links/downloads.ts';
import type { Ingress } from './ingress.ts';
import type { PayloadLinks } from './links/payload-links.ts';
import type { Uploads } from './links/uploads.ts';

interface Doors {
  readonly executor: Executor;
  readonly ingress: Ingress;
  readonly payloadLinks: PayloadLinks;
  readonly uploads: Uploads;
  readonly downloads: Downloads;
  readonly server: ServerInfo;
  readonly onInternal: OnInternalError;
}

/** Every address of the gateway: REST, MCP, webhook ingress, and the links to payloads, uploads and files. */
export function httpApp(doors: Doors): Hono<HttpEnv> {
  const { executor, server, onInternal } = doors;
  const app = new Hono<HttpEnv>();
  app.use(identify);
  app.onError((error, c) => errorResponse(error, c, onInternal));
  app.notFound((c) => errorResponse(new ServiceError('NOT_FOUND'), c, onInternal));
  const document = JSON.stringify(openApiDocument(operations, server));
  app.get('/v1/openapi.json', (c) =>
    reply(c, document, 200, { 'Content-Type': 'application/json' }),
  );
  app.all('/v1/openapi.json', () => {
    throw methodNotAllowed(['GET']);
  });
  app.all('/w/:token', (c) => ingress(doors, c));
  app.get('/l/:project/:event/:expires/:signature', (c) => payload(doors, c));
  app.all('/u/:token', (c) => upload(doors, c));
  app.all('/f/:token', (c) =>
    download(c, (wanted) => doors.downloads.byToken(c.req.param('token'), wanted)),
  );
  app.all('/d/:project/:path/:version/:expires/:signature', (c) => {
    const { project, path, version, expires, signature } = c.req.param();
    const parts = [project, path, version, expires, signature];
    return download(c, (wanted) => doors.downloads.bySignature(parts, wanted));
  });
  app.route('/mcp', mcpRoutes(executor, operations, { serverVersion: server.version, onInternal }));
  app.route('/', restRoutes(executor, operations, onInternal));
  return app;
}

async function ingress(doors: Doors, c: Context<HttpEnv>): Promise<Response> {
  if (c.req.method !== 'POST') throw methodNotAllowed(['POST']);
  const answer = await doors.ingress.receive(c.req.param('token') ?? '', c.env.incoming);
  return reply(c, JSON.stringify(answer), 200, { 'Content-Type': 'application/json' });
}

/** Sent as a download that no browser will run: the bytes are a stranger's. */
async function payload(doors: Doors, c: Context<HttpEnv>): Promise<Response> {
  const { project, event, expires, signature } = c.req.param() as Record<string, string>;
  const parts = [project, event, expires, signature].map((part) => part ?? '');
  const { bytes, eventId } = await doors.payloadLinks.open(parts);
  return reply(c, bytes as Uint8Array<ArrayBuffer>, 200, {
    'Content-Type': 'application/octet-stream',
    'Content-Disposition': `attachment; filename="${eventId}"`,
    'Content-Security-Policy': "sandbox; default-src 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
  });
}

async function upload(doors: Doors, c: Context<HttpEnv>): Promise<Response> {
  if (c.req.method !== 'PUT') throw methodNotAllowed(['PUT']);
  const answer = await doors.uploads.receive(c.req.param('token') ?? '', c.env.incoming);
  return reply(c, JSON.stringify(answer), 200, { 'Content-Type': 'application/json' });
}

async function download(
  c: Context<HttpEnv>,
  open: (wanted: Wanted) => Promise<FileAnswer>,
): Promise<Response> {
  const { method } = c.req;
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD']);
  const { status, headers, body } = await open({
    head: method === 'HEAD',
    range: c.req.header('range'),
    ifRange: c.req.header('if-range'),
  });
  return reply(c, body, status, headers);
}
