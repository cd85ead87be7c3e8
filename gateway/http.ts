import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono, type Context } from 'hono';
import { emptyApp, mountApi } from '../shared/bindings/api.ts';
import {
  commonHeaders,
  identify,
  methodNotAllowed,
  reply,
  type HttpEnv,
  type OnInternalError,
} from '../shared/bindings/http.ts';
import type { ServerInfo, Vault } from '../shared/context.ts';
import type { Executor } from '../shared/executor.ts';
import { once } from '../shared/once.ts';
import type { Downloads, FileAnswer, Wanted } from './links/downloads.ts';
import { FileBody } from './links/file-body.ts';
import type { Ingress } from './ingress.ts';
import type { Desk } from './people/desk.ts';
import type { Webhook } from './telegram/webhook.ts';
import type { PayloadLinks } from './links/payload-links.ts';
import { replicaRoutes, type ReplicaDoors } from './replica/routes.ts';
import { signInRoutes } from './signin/routes.ts';
import type { SignIn } from './signin/sign-in.ts';
import type { Uploads } from './links/uploads.ts';
import type { WebInbox } from './ui/inbox.ts';
import { linkDoor } from './ui/link-door.ts';

interface Doors {
  readonly executor: Executor;
  readonly ingress: Ingress;
  readonly payloadLinks: PayloadLinks;
  readonly uploads: Uploads;
  readonly downloads: Downloads;
  readonly desk: Desk;
  /** Null where nobody signs in. */
  readonly signIn: SignIn | null;
  readonly inbox: WebInbox;
  readonly vault: Vault;
  /** Null where Telegram's updates are fetched, or there is no bot. */
  readonly telegram: Webhook | null;
  readonly replicas: Pick<ReplicaDoors, 'authenticator' | 'source' | 'clock'>;
  readonly server: ServerInfo;
  readonly onInternal: OnInternalError;
}

/** Every address of the gateway: REST, MCP, webhook ingress, and the links to payloads, uploads and files. */
export function httpApp(doors: Doors): Hono<HttpEnv> {
  const { executor, server, onInternal } = doors;
  const app = emptyApp(onInternal);
  app.all('/w/:token', (c) => ingress(doors, c));
  app.all('/l/:project/:event/:expires/:signature', (c) => payload(doors, c));
  app.all('/m/:project/:event/:expires/:signature', (c) => mailHtml(doors, c));
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
  inboxDoors(app, doors);
  if (doors.signIn) signInDoors(app, doors, doors.signIn);
  if (doors.telegram) telegramDoor(app, doors.telegram);
  app.route('/', replicaRoutes({ ...doors.replicas, server, onInternal }));
  mountApi(app, { executor, server, onInternal, signIn: doors.signIn !== null });
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

/** The web inbox, loaded when it is first opened. */
function inboxDoors(app: Hono<HttpEnv>, { inbox, onInternal }: Doors): void {
  app.route('/', linkDoor(inbox, onInternal));
  const pages = once(async () => {
    const { uiRoutes } = await import('./ui/routes.tsx');
    return new Hono<HttpEnv>().use(identify).route('/', uiRoutes(inbox, onInternal));
  });
  for (const path of ['/ui', '/ui/*']) {
    app.all(path, async (c) => (await pages()).fetch(c.req.raw, c.env));
  }
}

function signInDoors(
  app: Hono<HttpEnv>,
  { server, vault, onInternal }: Doors,
  signIn: SignIn,
): void {
  app.route('/', signInRoutes(signIn, onInternal));
  const pages = once(async () => {
    const { loginPages } = await import('./pages/login-routes.tsx');
    const routes = loginPages(signIn.logins, { publicUrl: server.urls.api, onInternal, vault });
    return new Hono<HttpEnv>().use(identify).route('/', routes);
  });
  app.all('/s/:token', async (c) => (await pages()).fetch(c.req.raw, c.env));
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
  if (c.env.visit) c.env.visit.delivery = answer.status;
  return reply(c, JSON.stringify(answer), 200, { 'Content-Type': 'application/json' });
}

/** The parts of a signed link to something of an event. */
function linkParts(c: Context<HttpEnv>): string[] {
  const { method } = c.req;
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD']);
  const { project, event, expires, signature } = c.req.param() as Record<string, string>;
  return [project, event, expires, signature].map((part) => part ?? '');
}

/** A stranger's HTML: shown as it looks, without scripts, forms, frames or a single request to anywhere. */
const MAIL_HTML_CSP =
  "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

async function mailHtml(doors: Doors, c: Context<HttpEnv>): Promise<Response> {
  const { bytes } = await doors.payloadLinks.openHtml(linkParts(c));
  return reply(c, bytes as Uint8Array<ArrayBuffer>, 200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': MAIL_HTML_CSP,
    'Cross-Origin-Resource-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'X-Robots-Tag': 'noindex',
    'Cache-Control': 'no-store',
  });
}

/** Sent as a download that no browser will run: the bytes are a stranger's. */
async function payload(doors: Doors, c: Context<HttpEnv>): Promise<Response> {
  const { bytes, eventId } = await doors.payloadLinks.open(linkParts(c));
  return reply(c, bytes as Uint8Array<ArrayBuffer>, 200, {
    'Content-Type': 'application/octet-stream',
    'Content-Disposition': `attachment; filename="${eventId}"`,
    'Content-Security-Policy':
      "sandbox; default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
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
