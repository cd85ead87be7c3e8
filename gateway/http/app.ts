import { Hono, type Context } from 'hono';
import { emptyApp, leadBrowsers, mountApi } from '../../shared/api/api.ts';
import {
  identify,
  methodNotAllowed,
  reply,
  type HttpEnv,
  type OnInternalError,
} from '../../shared/api/http.ts';
import type { ServerInfo, Vault } from '../../shared/kernel/context.ts';
import type { Executor } from '../../shared/kernel/executor.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import { once } from '../../shared/lib/once.ts';
import { ContentHost } from './links/content-host.ts';
import type { Downloads } from './links/downloads.ts';
import { contentElsewhere, contentRoutes } from './links/routes.ts';
import type { KeptMail } from './links/kept-mail.ts';
import type { Ingress } from './ingress.ts';
import type { ApprovalService } from '../approvals/approvals.ts';
import type { Webhook } from '../channels/telegram/webhook.ts';
import type { PayloadLinks } from './links/payload-links.ts';
import { replicaRoutes, type ReplicaDeps } from './replica-routes.ts';
import { signInRoutes } from './sign-in-routes.ts';
import type { OpenOAuth } from '../auth/oauth/offer.ts';
import type { SignIn } from '../auth/sign-in.ts';
import type { Uploads } from './links/uploads.ts';
import type { WebInbox } from '../web/inbox/inbox.ts';
import { linkRoutes } from '../web/inbox/frame/link-routes.ts';

interface AppDeps {
  readonly executor: Executor;
  readonly ingress: Ingress;
  readonly payloadLinks: PayloadLinks;
  readonly uploads: Uploads;
  readonly downloads: Downloads;
  readonly keptMail: KeptMail;
  readonly approvals: ApprovalService;
  /** Null if the gateway has no sign-in. */
  readonly signIn: SignIn | null;
  readonly inbox: WebInbox;
  /** Null if the gateway offers no OAuth. */
  readonly oauth: OpenOAuth | null;
  readonly clock: Clock;
  readonly vault: Vault;
  /** Null if the gateway polls Telegram, or has no bot. */
  readonly telegram: Webhook | null;
  readonly replicas: Pick<ReplicaDeps, 'authenticator' | 'source' | 'clock'>;
  readonly server: ServerInfo;
  readonly onInternal: OnInternalError;
}

/**
 * Builds the app with every address of the gateway: REST, MCP, webhooks, replicas, sign-in, pages for people, and
 * links to payloads, uploads and files.
 */
export function httpApp(deps: AppDeps): Hono<HttpEnv> {
  const { executor, server, onInternal } = deps;
  const app = emptyApp(onInternal);
  const { contentUrl } = server;
  if (contentUrl === undefined) app.route('/', contentRoutes(deps));
  else contentElsewhere(app, deps, { host: new ContentHost(contentUrl) });
  // Some senders add a slash to the addresses they are given.
  for (const path of ['/w/:token', '/w/:token/']) app.all(path, (c) => ingress(deps, c));
  app.all('/u/:token', (c) => upload(deps, c));
  const pages = pagesOnDemand(deps);
  for (const path of ['/a/:token', '/c/:token']) {
    app.all(path, async (c) => (await pages()).fetch(c.req.raw, c.env));
  }
  inboxRoutes(app, deps);
  if (deps.signIn) signInAppRoutes(app, deps, deps.signIn);
  if (deps.oauth) oauthAppRoutes(app, { ...deps, oauth: deps.oauth });
  if (deps.telegram) telegramRoute(app, deps.telegram);
  app.route('/', replicaRoutes({ ...deps.replicas, server, onInternal }));
  const offers = { signIn: deps.signIn !== null, oauth: deps.oauth !== null };
  mountApi(app, { executor, server, onInternal, ...offers });
  return app;
}

/** The pages for people. They load on first use, which saves memory in a daemon that asks nobody anything. */
function pagesOnDemand({
  approvals,
  vault,
  inbox: { forms },
  server,
  onInternal,
}: AppDeps): () => Promise<Hono<HttpEnv>> {
  return once(async () => {
    const { pageRoutes } = await import('../web/pages/routes.tsx');
    const pages = pageRoutes(approvals, { publicUrl: server.urls.api, onInternal, vault, forms });
    return new Hono<HttpEnv>().use(identify).route('/', pages);
  });
}

/** Mounts the web inbox, which loads on first use. */
function inboxRoutes(app: Hono<HttpEnv>, { inbox, onInternal }: AppDeps): void {
  leadBrowsers(app, `${new URL(inbox.publicUrl).pathname.replace(/\/+$/, '')}/ui`);
  app.route('/', linkRoutes(inbox, onInternal));
  const pages = once(async () => {
    const { uiRoutes } = await import('../web/inbox/routes.tsx');
    return new Hono<HttpEnv>().use(identify).route('/', uiRoutes(inbox, onInternal));
  });
  for (const path of ['/ui', '/ui/*']) {
    app.all(path, async (c) => (await pages()).fetch(c.req.raw, c.env));
  }
}

function signInAppRoutes(
  app: Hono<HttpEnv>,
  { server, vault, inbox: { forms }, onInternal }: AppDeps,
  signIn: SignIn,
): void {
  app.route('/', signInRoutes(signIn, onInternal));
  const pages = once(async () => {
    const { loginPages } = await import('../web/pages/login-routes.tsx');
    const options = { publicUrl: server.urls.api, onInternal, vault, forms };
    const routes = loginPages(signIn.logins, options);
    return new Hono<HttpEnv>().use(identify).route('/', routes);
  });
  app.all('/s/:token', async (c) => (await pages()).fetch(c.req.raw, c.env));
}

const OAUTH_PATHS = [
  '/.well-known/oauth-authorization-server',
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-protected-resource/*',
  '/oauth/token',
  '/oauth/revoke',
  '/oauth/register',
];

function oauthAppRoutes(app: Hono<HttpEnv>, deps: AppDeps & { readonly oauth: OpenOAuth }): void {
  const routes = once(async () => (await import('./oauth-routes.ts')).oauthRoutes(deps));
  for (const path of OAUTH_PATHS) {
    app.all(path, async (c) => (await routes()).fetch(c.req.raw, c.env));
  }
}

function telegramRoute(app: Hono<HttpEnv>, webhook: Webhook): void {
  app.post(webhook.path, async (c) => {
    const { status, headers } = await webhook.handle(c.req.raw);
    return reply(c, null, status, Object.fromEntries(headers));
  });
  app.all(webhook.path, () => {
    throw methodNotAllowed(['POST']);
  });
}

const GREETINGS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

async function ingress({ ingress: to }: AppDeps, c: Context<HttpEnv>): Promise<Response> {
  const { method } = c.req;
  const token = c.req.param('token') ?? '';
  const isGreeting = GREETINGS.has(method);
  if (method !== 'POST' && !isGreeting) throw methodNotAllowed([...GREETINGS, 'POST']);
  const said = isGreeting ? await to.greet(token, c.env) : await to.receive(token, c.env);
  if (c.env.visit) c.env.visit.delivery = said.delivery;
  return reply(c, said.body, 200, said.headers);
}

async function upload(deps: AppDeps, c: Context<HttpEnv>): Promise<Response> {
  if (c.req.method !== 'PUT') throw methodNotAllowed(['PUT']);
  const answer = await deps.uploads.receive(c.req.param('token') ?? '', c.env);
  return reply(c, JSON.stringify(answer), 200, { 'Content-Type': 'application/json' });
}
