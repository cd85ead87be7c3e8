import { hash } from 'node:crypto';
import { Hono } from 'hono';
import type { HttpEnv } from '../../../../shared/api/http.ts';
import { mayGrant, READING_SCOPES, type Scope } from '../../../../shared/lib/scopes.ts';
import { clientAddress, networkOf } from '../../../lib/client-address.ts';
import { hostOf, type AuthorizationRequest } from '../../../auth/oauth/authorization.ts';
import type { OAuth } from '../../../auth/oauth/oauth.ts';
import type { OpenOAuth } from '../../../auth/oauth/offer.ts';
import { isForeign } from '../../pages/csrf.ts';
import {
  bodyOf,
  formProblem,
  isForm,
  notAllowed,
  senderOf,
  type Ctx,
} from '../../pages/page-answers.tsx';
import type { Access } from './access.ts';
import {
  foreignForm,
  html,
  message,
  newFrame,
  outdatedForm,
  sessionOf,
  type Ui,
} from '../frame/answers.tsx';
import { forgetRequest, keepRequest } from './authorize-cookie.ts';
import { ConsentPage, ContinuePage, LeavePage, LIFETIMES, RefusedPage } from './consent-page.tsx';
import { sessionCsrf } from './csrf.ts';
import { signInPage } from './entry.tsx';
import { fieldsOf } from '../../ui/refusal.ts';
import type { Session } from './sessions.ts';

const QUERY_MAX_CHARS = 6000;
/** Some apps open this page in a window of theirs, and wait there for the person to come back. */
const OPENABLE = { 'Cross-Origin-Opener-Policy': 'unsafe-none' };
const DAY_MS = 86_400_000;

/** The authorization endpoint, where a person lets an app in. It has the session of the web inbox. */
export function authorizeRoutes(ui: Ui, open: OpenOAuth): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.get('/ui/authorize', async (c) => {
    const visit = await visitOf(ui, c, open);
    return visit instanceof Response ? visit : show(visit);
  });
  app.post('/ui/authorize', async (c) => {
    if (isForeign(senderOf(c), ui.ownOrigin)) return foreignForm(ui, c);
    if (!isForm(c)) return outdatedForm(ui, c);
    // Before anything is judged: a body may take long, and the person may be removed while it arrives.
    const body = await bodyOf(c);
    const visit = await visitOf(ui, c, open);
    return visit instanceof Response ? visit : decide(visit, body);
  });
  app.all('/ui/authorize', notAllowed);
  return app;
}

/** A person before an app's request. */
interface Visit {
  readonly ui: Ui;
  readonly c: Ctx;
  readonly oauth: OAuth;
  readonly session: Session;
  readonly address: string;
  readonly asked: AuthorizationRequest;
  /** The person's projects, at least one. */
  readonly accesses: readonly Access[];
}

/** Only a person who has signed in learns anything about the app, so no stranger can use this address as a redirect. */
async function visitOf(ui: Ui, c: Ctx, open: OpenOAuth): Promise<Visit | Response> {
  const query = new URL(c.req.url).search.slice(1);
  if (query.length > QUERY_MAX_CHARS) return stop(ui, c, 'The app’s request is too long.');
  if (isForeign(senderOf(c), ui.ownOrigin)) return announce(ui, c, query);
  const session = await sessionOf(ui, c);
  if (session?.holder.kind !== 'owner') return enter(ui, c, { query, session });
  const { inbox } = ui;
  const oauth = await open();
  const { address } = session.holder;
  for (const who of [address, networkOf(clientAddress(c))]) {
    oauth.limiter.take(`authorize|${who}`, inbox.clock.now());
  }
  const projects = await inbox.access.projectsOf(session);
  const found = await Promise.all(
    projects.map(({ slug }) => inbox.access.inProject(session, slug)),
  );
  const accesses = found.filter((access) => access !== null);
  if (accesses.length === 0) {
    return stop(ui, c, 'You don’t have a project here. Create one first: svc login');
  }
  const judged = await oauth.authorization.judge(new URLSearchParams(query), address);
  if (judged.kind === 'stop') return stop(ui, c, judged.reason);
  if (judged.kind === 'back') return refused(ui, c, judged);
  return { ui, c, oauth, session, address, asked: judged.asked, accesses };
}

function stop(ui: Ui, c: Ctx, text: string): Promise<Response> {
  const shown = { status: 400, heading: 'This app can’t be connected', text };
  return message(ui, c, shown, forgetRequest(ui));
}

/** Nobody goes to the app without pressing something: anyone can register an app, and link to this address. */
function refused(
  ui: Ui,
  c: Ctx,
  { to, reason }: { readonly to: string; readonly reason: string },
): Promise<Response> {
  const frame = newFrame(ui);
  const page = <RefusedPage frame={frame} reason={reason} to={to} />;
  return html(c, 400, frame, page, { ...OPENABLE, ...forgetRequest(ui) });
}

/**
 * Another site led here, perhaps without the person's wish: they go on themselves, or not. Browsers keep the session's
 * cookie back from this page, and send it to the next one.
 */
function announce(ui: Ui, c: Ctx, query: string): Promise<Response> {
  const frame = newFrame(ui);
  const here = `${ui.root}/authorize?${query}`;
  return html(c, 200, frame, <ContinuePage frame={frame} to={here} />, OPENABLE);
}

/** Lets a person sign in first. */
function enter(
  ui: Ui,
  c: Ctx,
  { query, session }: { readonly query: string; readonly session: Session | null },
): Promise<Response> {
  const isKey = session !== null;
  return signInPage(ui, c, {
    status: 401,
    isConnecting: true,
    headers: { ...OPENABLE, ...keepRequest(ui, query) },
    ...(isKey && { problem: 'A key can’t let an app in. Sign in with your email address.' }),
  });
}

interface ConsentForm {
  readonly project: string | undefined;
  readonly scopes: readonly Scope[];
  readonly lifetime: string | undefined;
}

interface ConsentPageOptions {
  readonly status?: number;
  readonly problem?: string;
  readonly chosen?: ConsentForm;
  /** The page where keys can be revoked. */
  readonly keysAt?: string;
}

function show(
  visit: Visit,
  { status = 200, problem, chosen, keysAt }: ConsentPageOptions = {},
): Promise<Response> {
  const { ui, c, asked, accesses, address } = visit;
  const frame = newFrame(ui);
  const page = (
    <ConsentPage
      frame={frame}
      csrf={ui.inbox.forms.make(consentText(visit))}
      asked={asked}
      host={hostOf(asked)}
      address={address}
      projects={accesses.map(({ project }) => project.info)}
      offered={offered(visit)}
      problem={problem ?? null}
      keysAt={keysAt ?? null}
      chosen={chosen ?? { project: undefined, scopes: read(visit), lifetime: undefined }}
    />
  );
  return html(c, status, frame, page, OPENABLE);
}

/** The scopes that the person may give in at least one project. */
function offered({ asked, accesses }: Visit): Scope[] {
  return asked.scopes.filter((scope) => accesses.some((one) => mayGrant(one.scopes, scope)));
}

/** What is ticked before the person ticks anything: what changes nothing. */
function read(visit: Visit): Scope[] {
  return offered(visit).filter((scope) => READING_SCOPES.includes(scope));
}

/** The text that we sign for the form: the session, the request, and what the page said about the app. */
function consentText({ session, c, asked }: Visit): string {
  const { client, redirectUri } = asked;
  const seen = JSON.stringify([new URL(c.req.url).search, client.name, client.host, redirectUri]);
  return `${sessionCsrf(session)}|authorize|${hash('sha256', seen)}`;
}

async function decide(visit: Visit, body: string): Promise<Response> {
  const { ui, c, oauth, asked } = visit;
  const form = fieldsOf(body, ['csrf', 'verb', 'project', 'lifetime']);
  const early = formProblem(ui.inbox, consentText(visit), form?.csrf);
  if (early?.status === 403) return outdatedForm(ui, c);
  const sent = new Set(new URLSearchParams(body).getAll('scopes'));
  const scopes = offered(visit).filter((scope) => sent.has(scope));
  const chosen = { project: form?.project, scopes, lifetime: form?.lifetime };
  if (early !== null) return show(visit, { ...early, chosen });
  if (form?.verb === 'deny')
    return redirectToClient(visit, oauth.authorization.denied(asked), 'Denied');
  return form?.verb === 'allow'
    ? allow(visit, chosen)
    : show(visit, { status: 400, problem: 'No button was pressed.', chosen });
}

async function allow(visit: Visit, chosen: ConsentForm): Promise<Response> {
  const { ui, accesses, oauth, asked } = visit;
  const refuse = (
    problem: string,
    status = 400,
    more: ConsentPageOptions = {},
  ): Promise<Response> => show(visit, { status, problem, chosen, ...more });
  const { scopes } = chosen;
  const access = accesses.find(({ project }) => project.info.slug === chosen.project);
  const days = LIFETIMES.find(([value]) => value === chosen.lifetime)?.[0];
  if (!access?.member) return refuse('Choose a project.');
  if (days === undefined) return refuse('Choose when the access ends.');
  if (scopes.length === 0) return refuse('Choose at least one thing that the app may do.');
  const missing = scopes.filter((scope) => !mayGrant(access.scopes, scope));
  if (missing.length > 0) return refuse(`You don’t have ${missing.join(', ')} in this project.`);
  const { project, member } = access;
  const granted = await oauth.authorization.grant(asked, {
    project,
    scopes,
    memberId: member.id,
    lifetimeMs: Number(days) * DAY_MS,
  });
  if (typeof granted === 'object') return redirectToClient(visit, granted.to, 'Connected');
  if (granted === 'changed')
    return refuse('Your role in this project has changed. Try again.', 409);
  const keysAt = `${ui.root}/p/${project.info.slug}/keys`;
  const problem = 'The project has the maximum number of active keys. Revoke one, then try again.';
  return refuse(problem, 409, { keysAt });
}

/** Goes back to the app by a page and not by a redirect: browsers apply the policy for forms to each redirect after one. */
function redirectToClient({ ui, c, asked }: Visit, to: string, heading: string): Promise<Response> {
  const frame = newFrame(ui);
  const page = <LeavePage frame={frame} heading={heading} host={hostOf(asked)} to={to} />;
  return html(c, 200, frame, page, { ...OPENABLE, ...forgetRequest(ui) });
}
