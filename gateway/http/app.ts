import { Hono, type Context } from 'hono';
import { emptyApp, mountApi } from '../../shared/api/api.ts';
import {
  identify,
  methodNotAllowed,
  reply,
  type HttpEnv,
  type OnInternalError,
} from '../../shared/api/http.ts';
import type { ServerInfo, Vault } from '../../shared/kernel/context.ts';
import type { Executor } from '../../shared/kernel/executor.ts';
import { once } from '../../shared/lib/once.ts';
import { ContentHost } from './links/content-host.ts';
import type { Downloads } from './links/downloads.ts';
import { contentElsewhere, contentRoutes } from './links/routes.ts';
import type { Ingress } from './ingress.ts';
import type { ApprovalService } from '../lib/approvals.ts';
import type { Webhook } from '../channels/telegram/webhook.ts';
import type { PayloadLinks } from './links/payload-links.ts';
import { replicaRoutes, type ReplicaDoors } from './replica-routes.ts';
import { signInRoutes } from './sign-in-routes.ts';
import type { SignIn } from '../auth/sign-in.ts';
import type { Uploads } from './links/uploads.ts';
import type { WebInbox } from '../web/inbox/inbox.ts';
import { linkDoor } from '../web/inbox/link-door.ts';

interface Doors {
  readonly executor: Executor;
  readonly ingress: Ingress;
  readonly payloadLinks: PayloadLinks;
  readonly uploads: Uploads;
  readonly downloads: Downloads;
  readonly approvals: ApprovalService;
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
  const { contentUrl } = server;
  if (contentUrl === undefined) app.route('/', contentRoutes(doors));
  else contentElsewhere(app, doors, { host: new ContentHost(contentUrl) });
  app.all('/w/:token', (c) => ingress(doors, c));
  app.all('/u/:token', (c) => upload(doors, c));
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
function pagesOnDemand({
  approvals,
  vault,
  server,
  onInternal,
}: Doors): () => Promise<Hono<HttpEnv>> {
  return once(async () => {
    const { pageRoutes } = await import('../web/pages/routes.tsx');
    const pages = pageRoutes(approvals, { publicUrl: server.urls.api, onInternal, vault });
    return new Hono<HttpEnv>().use(identify).route('/', pages);
  });
}

/** The web inbox, loaded when it is first opened. */
function inboxDoors(app: Hono<HttpEnv>, { inbox, onInternal }: Doors): void {
  app.route('/', linkDoor(inbox, onInternal));
  const pages = once(async () => {
    const { uiRoutes } = await import('../web/inbox/routes.tsx');
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
    const { loginPages } = await import('../web/pages/login-routes.tsx');
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

async function upload(doors: Doors, c: Context<HttpEnv>): Promise<Response> {
  if (c.req.method !== 'PUT') throw methodNotAllowed(['PUT']);
  const answer = await doors.uploads.receive(c.req.param('token') ?? '', c.env.incoming);
  return reply(c, JSON.stringify(answer), 200, { 'Content-Type': 'application/json' });
}
