import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono, type Context } from 'hono';
import {
  commonHeaders,
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
import type { ServerInfo, Vault } from '../shared/context.ts';
import { ServiceError } from '../shared/errors.ts';
import type { Executor } from '../shared/executor.ts';
import { once } from '../shared/once.ts';
import { operations } from '../shared/operations/index.ts';
import type { Downloads, FileAnswer, Wanted } from './links/downloads.ts';
import { FileBody } from './links/file-body.ts';
import type { Ingress } from './ingress.ts';
import type { Desk } from './people/desk.ts';
import type { Webhook } from './telegram/webhook.ts';
import type { PayloadLinks } from './links/payload-links.ts';
import type { Uploads } from './links/uploads.ts';

interface Doors {
  readonly executor: Executor;
  readonly ingress: Ingress;
  readonly payloadLinks: PayloadLinks;
  readonly uploads: Uploads;
  readonly downloads: Downloads;
  readonly desk: Desk;
  readonly vault: Vault;
  /** Null where Telegram's updates are fetched, or there is no bot. */
  readonly telegram: Webhook | null;
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
  const document = once(() => JSON.stringify(openApiDocument(operations, server)));
  app.get('/v1/openapi.json', (c) =>
    reply(c, document(), 200, { 'Content-Type': 'application/json' }),
  );
  app.all('/v1/openapi.json', () => {
    throw methodNotAllowed(['GET']);
  });
  app.all('/w/:token', (c) => ingress(doors, c));
  app.all('/l/:project/:event/:expires/:signature', (c) => payload(doors, c));
  app.all('/u/:token', (c) => upload(doors, c));
  app.all('/f/:token', (c) =>
    download(c, onInternal, (wanted) => doors.downloads.byToken(c.req.param('token'), wanted)),
  );
  app.all('/d/:project/:path/:version/:expires/:signature', (c) => {
    const { project, path, version, expires, signature } = c.req.param();
    const parts = [project, path, version, expires, signature];
    return download(c, onInternal, (wanted) => doors.downloads.bySignature(parts, wanted));
  });
  const pages = pagesOnDemand(doors);
  for (const path of ['/a/:token', '/c/:token']) {
    app.all(path, async (c) => (await pages()).fetch(c.req.raw, c.env));
  }
  if (doors.telegram) telegramDoor(app, doors.telegram);
  app.route('/mcp', mcpRoutes(executor, operations, { serverVersion: server.version, onInternal }));
  app.route('/', restRoutes(executor, operations, onInternal));
  return app;
}

/** The pages for people, loaded when the first of them is opened: a daemon that nobody asks anything spares the memory. */
function pagesOnDemand({ desk, vault, server, onInternal }: Doors): () => Promise<Hono<HttpEnv>> {
  return once(async () => {
    const { pageRoutes } = await import('./pages/routes.tsx');
    const pages = pageRoutes(desk, { publicUrl: server.urls.api, onInternal, vault });
    return new Hono<HttpEnv>().use(identify).route('/', pages);
  });
}

function telegramDoor(app: Hono<HttpEnv>, webhook: Webhook): void {
  app.post(webhook.path, async (c) => {
    const { status, headers } = await webhook.handle(c.req.raw);
    return reply(c, null, status, Object.fromEntries(headers));
  });
  app.all(webhook.path, () => {
    throw methodNotAllowed(['POST']);
  });
}

async function ingress(doors: Doors, c: Context<HttpEnv>): Promise<Response> {
  if (c.req.method !== 'POST') throw methodNotAllowed(['POST']);
  const answer = await doors.ingress.receive(c.req.param('token') ?? '', c.env.incoming);
  return reply(c, JSON.stringify(answer), 200, { 'Content-Type': 'application/json' });
}

/** Sent as a download that no browser will run: the bytes are a stranger's. */
async function payload(doors: Doors, c: Context<HttpEnv>): Promise<Response> {
  const { method } = c.req;
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD']);
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
  onInternal: OnInternalError,
  open: (wanted: Wanted) => Promise<FileAnswer>,
): Promise<Response> {
  const { method } = c.req;
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD']);
  const { status, headers, body } = await open({
    head: method === 'HEAD',
    range: c.req.header('range'),
    ifRange: c.req.header('if-range'),
  });
  if (!(body instanceof FileBody)) return reply(c, body, status, headers);
  // Straight to the connection: a stream of the web between them takes longer than all the rest.
  const sent = body.send(c.env, status, commonHeaders(c, headers));
  await sent.catch((error: unknown) => onInternal(error, c.get('requestId')));
  return RESPONSE_ALREADY_SENT;
}
