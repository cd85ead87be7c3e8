import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import {
  admittedOf,
  commonHeaders,
  reply,
  type HttpEnv,
  type OnInternalError,
} from '../../../shared/api/http.ts';
import { mayRun, type Executable } from '../../../shared/kernel/operation.ts';
import { ServiceError } from '../../../shared/lib/errors.ts';
import { ReadyDocument } from '../../../shared/api/ready-document.ts';
import { requestList } from '../../../shared/operations/request/list.ts';
import { isForeign } from '../pages/csrf.ts';
import { bodyOf, FORM_PROBLEMS, isForm, senderOf, type Ctx } from '../pages/page-answers.tsx';
import { EventStream } from '../../replica/event-stream.ts';
import { callerOf, type Access } from './session/access.ts';
import {
  cookieFor,
  failed,
  foreignForm,
  goTo,
  html,
  newFrame,
  nothingHere,
  outdatedForm,
  sessionOf,
  type Ui,
} from './frame/answers.tsx';
import { INBOX_SCRIPT, WORKER_SCRIPT } from '../browser/scripts.ts';
import { APP_ICON } from './frame/app-icon.ts';
import { authorizeRoutes } from './session/authorize.tsx';
import { sessionCsrf } from './session/csrf.ts';
import { ProjectsPage } from './session/entry-pages.tsx';
import { entryRoutes, signInPage } from './session/entry.tsx';
import type { WebInbox } from './inbox.ts';
import { Layout } from './frame/layout.tsx';
import { UI_PAGES } from './pages.ts';
import type { Session } from './session/sessions.ts';
import { UI_STYLE } from './frame/style.ts';
import type { PageResult, UiPage, PageContext } from './page-context.ts';

const NEVER = new AbortController().signal;
/** More pending requests than this appear as `20+`. */
const COUNTED_MAX = 20;

/** The web inbox, for members and for people with a key. */
export function uiRoutes(inbox: WebInbox, onInternal: OnInternalError): Hono<HttpEnv> {
  const { pathname, origin } = new URL(inbox.publicUrl);
  const root = `${pathname.replace(/\/+$/, '')}/ui`;
  const cookie = cookieFor(inbox.publicUrl, root);
  const ui: Ui = { inbox, root, ownOrigin: origin, cookie, onInternal };
  const app = new Hono<HttpEnv>();
  app.onError((error, c) => failed(ui, c, error));
  app.get('/ui', (c) => start(ui, c));
  const style = asset(UI_STYLE, 'text/css');
  const script = asset(INBOX_SCRIPT, 'text/javascript');
  app.get('/ui/style.css', (c) => style.answer(c));
  app.get('/ui/script.js', (c) => script.answer(c));
  appRoutes(app, root);
  app.get('/ui/live', (c) => live(ui, c));
  app.route('/', entryRoutes(ui));
  if (inbox.oauth) app.route('/', authorizeRoutes(ui, inbox.oauth));
  app.get('/ui/p/:slug', (c) => start(ui, c));
  for (const page of UI_PAGES) {
    for (const path of [`/ui/p/:slug/${page.path}`, `/ui/p/:slug/${page.path}/:id`]) {
      app.get(path, (c) => show(ui, c, page));
      app.post(path, (c) => act(ui, c, page));
    }
  }
  // `notFound` would be lost when these routes are mounted in another app.
  app.all('/ui/*', (c) => nothingHere(ui, c));
  return app;
}

/** What makes the pages an app that can be installed, and that shows notices. */
function appRoutes(app: Hono<HttpEnv>, root: string): void {
  const manifest = JSON.stringify({
    name: 'svc',
    short_name: 'svc',
    start_url: root,
    scope: `${root}/`,
    display: 'standalone',
    background_color: '#f5f4f0',
    theme_color: '#17633f',
    icons: [
      { src: `${root}/icon.png`, sizes: '192x192', type: 'image/png', purpose: 'any maskable' },
    ],
  });
  const files = {
    'manifest.webmanifest': fresh(manifest, 'application/manifest+json'),
    'icon.png': fresh(APP_ICON, 'image/png'),
    'push.js': fresh(WORKER_SCRIPT, 'text/javascript; charset=utf-8'),
  };
  for (const [name, file] of Object.entries(files)) app.get(`/ui/${name}`, (c) => file.answer(c));
}

/** Its URL has no version, so browsers ask again. */
function fresh(content: string | Uint8Array, type: string): ReadyDocument {
  return new ReadyDocument(() => content, {
    'Content-Type': type,
    'Cache-Control': 'no-cache',
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Resource-Policy': 'same-origin',
  });
}

/** Cached for long, because the URL contains a version. */
function asset(text: string, type: string): ReadyDocument {
  return new ReadyDocument(() => text, {
    'Content-Type': `${type}; charset=utf-8`,
    'Cache-Control': 'public, max-age=31536000, immutable',
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Resource-Policy': 'same-origin',
  });
}

/** Redirects to the first page of the only project, or lets a member of several choose. */
async function start(ui: Ui, c: Ctx): Promise<Response> {
  const session = await sessionOf(ui, c);
  if (!session) return signInPage(ui, c, { status: 401 });
  const projects = await ui.inbox.access.projectsOf(session);
  const slug = c.req.param('slug') ?? (projects.length === 1 ? projects[0]?.slug : undefined);
  if (slug === undefined) {
    // The key is no longer valid.
    if (session.holder.kind === 'key') return signInPage(ui, c, { status: 401 });
    const frame = newFrame(ui);
    const csrf = ui.inbox.forms.make(sessionCsrf(session));
    return html(c, 200, frame, <ProjectsPage frame={frame} csrf={csrf} projects={projects} />);
  }
  const access = await ui.inbox.access.inProject(session, slug);
  const first = access && pagesFor(ui.inbox, access)[0];
  return first ? goTo(c, `${ui.root}/p/${slug}/${first.path}`) : nothingHere(ui, c);
}

function pagesFor(inbox: WebInbox, access: Access): UiPage[] {
  return UI_PAGES.filter(
    ({ scope, isThere }) =>
      mayRun({ scope, effect: 'read' }, access) && (isThere?.(inbox, access) ?? true),
  );
}

/** The context of a visit, or the answer to a visitor without access. */
async function visitOf(ui: Ui, c: Ctx, page: UiPage): Promise<PageContext | Response> {
  const { inbox, root } = ui;
  const session = await sessionOf(ui, c);
  if (!session) return signInPage(ui, c, { status: 401 });
  const access = await inbox.access.inProject(session, c.req.param('slug') ?? '');
  if (!access) return missing(ui, c, session);
  const caller = callerOf(access, c.get('requestId'));
  admittedOf(c.env).proved('api', access.project.info.id);
  inbox.executor.meter(caller);
  const pages = pagesFor(inbox, access);
  if (!pages.includes(page)) return nothingHere(ui, c);
  const project = access.project.info;
  const run = async (executable: Executable, input: unknown): Promise<unknown> =>
    (await inbox.executor.execute(executable, input, caller, NEVER)).value;
  return {
    inbox,
    session,
    access,
    caller,
    project,
    root,
    id: c.req.param('id') ?? null,
    pages,
    now: inbox.clock.now(),
    csrf: inbox.forms.make(sessionCsrf(session)),
    query: (name) => c.req.query(name),
    at: (path, id) =>
      [`${root}/p/${project.slug}/${path}`, ...(id === undefined ? [] : [id])].join('/'),
    call: run as PageContext['call'],
    read: run as PageContext['read'],
    readOrNull: (async (read, input) =>
      run(read, input).catch(nullIfRefused)) as PageContext['readOrNull'],
    may: (operation) => mayRun(operation, access),
  };
}

function nullIfRefused(error: unknown): null {
  if (error instanceof ServiceError && error.code === 'SCOPE_MISSING') return null;
  throw error;
}

/** A session without any project has ended: its key was revoked or has a new secret. */
async function missing(ui: Ui, c: Ctx, session: Session): Promise<Response> {
  const isOver =
    session.holder.kind === 'key' && (await ui.inbox.access.projectsOf(session)).length === 0;
  return isOver ? signInPage(ui, c, { status: 401 }) : nothingHere(ui, c);
}

async function show(ui: Ui, c: Ctx, page: UiPage): Promise<Response> {
  const context = await visitOf(ui, c, page);
  if (context instanceof Response) return context;
  const { position } = context.access.project;
  return framed(ui, c, { page, context, position, shown: await page.show(context) });
}

async function act(ui: Ui, c: Ctx, page: UiPage): Promise<Response> {
  if (isForeign(senderOf(c), ui.ownOrigin)) return foreignForm(ui, c);
  const context = await visitOf(ui, c, page);
  if (context instanceof Response) return context;
  if (!page.act) return nothingHere(ui, c);
  if (!isForm(c)) return outdatedForm(ui, c);
  const body = await bodyOf(c, page.formMaxBytes);
  if (!(await isStillIn(ui, c, context))) return nothingHere(ui, c);
  const csrf = new URLSearchParams(body).get('csrf') ?? '';
  const judged = ui.inbox.forms.judge(sessionCsrf(context.session), csrf);
  if (judged === 'invalid') return outdatedForm(ui, c);
  const acted = judged === 'early' ? await again(context, page) : await page.act(context, body);
  if ('to' in acted) return goTo(c, acted.to);
  const { position } = context.access.project;
  return framed(ui, c, { page, context, position, shown: acted });
}

/** The page of a form that was sent before anybody could read it. */
async function again(context: PageContext, page: UiPage): Promise<PageResult> {
  const problem = `Nothing was done. ${FORM_PROBLEMS.early}`;
  return { ...(await page.show(context)), status: 409, problem };
}

/** Whether the visitor has kept what they had when the body began to arrive, which may be half a minute ago. */
async function isStillIn(ui: Ui, c: Ctx, { access, project }: PageContext): Promise<boolean> {
  const session = await sessionOf(ui, c);
  const now = session && (await ui.inbox.access.inProject(session, project.slug));
  return now?.actor === access.actor && now.scopes.join() === access.scopes.join();
}

interface Framing {
  readonly page: UiPage;
  readonly context: PageContext;
  /** The newest commit that `shown` certainly includes. */
  readonly position: number;
  readonly shown: PageResult;
}

async function framed(
  ui: Ui,
  c: Ctx,
  { page, context, position, shown }: Framing,
): Promise<Response> {
  const { access, csrf } = context;
  const { title, content, status = 200, wide = false, picturesFrom, problem = null } = shown;
  const frame = { ...newFrame(ui), ...(picturesFrom !== undefined && { picturesFrom }) };
  const { pages } = context;
  const layout = { frame, access, csrf, title, position, wide, problem, current: page, pages };
  const waiting = await waitingIn(context);
  return html(
    c,
    status,
    frame,
    <Layout {...layout} waiting={waiting}>
      {content}
    </Layout>,
  );
}

/** How many requests are pending; null if the visitor can't see requests. */
async function waitingIn(context: PageContext): Promise<string | null> {
  if (!context.may(requestList)) return null;
  const input = { status: 'pending', limit: COUNTED_MAX + 1 };
  const { items } = await context.call(requestList, input);
  return items.length > COUNTED_MAX ? `${COUNTED_MAX}+` : String(items.length);
}

/** Sends change notices to a page while it is open. */
async function live(ui: Ui, c: Ctx): Promise<Response> {
  const { inbox } = ui;
  const slug = c.req.query('project') ?? '';
  const look = async (): Promise<{ session: Session; access: Access } | null> => {
    const session = await sessionOf(ui, c);
    const access = session && (await inbox.access.inProject(session, slug));
    return session && access && { session, access };
  };
  const seen = isForeign(senderOf(c), ui.ownOrigin) ? null : await look();
  // Browsers don't reconnect to a stream that was refused.
  if (!seen) return reply(c, null, 401, { 'Cache-Control': 'no-store' });
  admittedOf(c.env).proved('api', seen.access.project.info.id);
  const headers = commonHeaders(c, {
    'Content-Type': 'text/event-stream',
    'X-Accel-Buffering': 'no',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  });
  await inbox.live.serve({
    project: seen.access.project,
    idHash: seen.session.idHash,
    stream: new EventStream(c.env, headers),
    position: c.req.query('seen') ?? null,
    mayListen: async () => (await look()) !== null,
  });
  return RESPONSE_ALREADY_SENT;
}
