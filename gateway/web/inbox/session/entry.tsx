import { Hono } from 'hono';
import type { ProjectInfo } from '../../../../shared/kernel/context.ts';
import type { HttpEnv } from '../../../../shared/api/http.ts';
import { UI_PAGE } from '../frame/ui-links.ts';
import { ServiceError } from '../../../../shared/lib/errors.ts';
import { SIGN_IN_BODY_MAX_BYTES } from '../../../../shared/lib/limits.ts';
import { domainOf, isMailAddress } from '../../../../shared/rules/mail/mail-address.ts';
import { isForeign } from '../../pages/csrf.ts';
import {
  bodyOf,
  FORM_PROBLEMS,
  isForm,
  senderOf,
  tokenOf,
  type Ctx,
} from '../../pages/page-answers.tsx';
import { clientAddress } from '../../../lib/client-address.ts';
import {
  clearCookie,
  foreignForm,
  goTo,
  html,
  message,
  newFrame,
  outdatedForm,
  sessionOf,
  setCookie,
  type Ui,
} from '../frame/answers.tsx';
import { waitingRequest } from './authorize-cookie.ts';
import { sessionCsrf } from './csrf.ts';
import { EnterPage, MailedPage, SignInPage } from './entry-pages.tsx';
import { JoinPage } from './join-page.tsx';
import type { Link } from './sessions.ts';

/** The sign-in and sign-out pages, which need no session. */
export function entryRoutes(ui: Ui): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.get('/ui/sign-in', (c) => {
    const [isOut, isJoined] = ['out', 'joined'].map((name) => c.req.query(name) === '1');
    return signInPage(ui, c, { isOut, isJoined });
  });
  app.post('/ui/sign-in', (c) => mailLink(ui, c));
  for (const [path, kind] of Object.entries(LINKS)) {
    app.get(path, (c) => lookAtLink(ui, c, kind));
    app.post(path, (c) => useLink(ui, c, kind));
  }
  app.get('/ui/join/:token', (c) => showInvitation(ui, c));
  app.post('/ui/join/:token', (c) => join(ui, c));
  app.post('/ui/sign-out', (c) => signOut(ui, c));
  return app;
}

const LINKS = { '/ui/open/:token': 'key', '/ui/sign-in/:token': 'owner' } as const;
const START = 'POST|ui-start|1';

function linkText(token: string): string {
  return `POST|ui-link|1|${token}`;
}

/** What a page says about its form after it was refused. */
interface FormRefusal {
  readonly status?: number;
  readonly problem?: string | null;
}

interface SignInPageOptions extends FormRefusal {
  readonly email?: string;
  readonly isOut?: boolean | undefined;
  readonly isJoined?: boolean | undefined;
  readonly isConnecting?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Also the answer, with status 401, to a page request without a session. */
export function signInPage(ui: Ui, c: Ctx, shown: SignInPageOptions = {}): Promise<Response> {
  const {
    status = 200,
    problem = null,
    email = '',
    isOut = false,
    isJoined = false,
    headers,
  } = shown;
  const { isConnecting = waitingRequest(ui, c) !== null } = shown;
  const frame = newFrame(ui);
  const csrf = ui.inbox.forms.make(START);
  const props = { frame, csrf, problem, email, isOut, isJoined, isConnecting };
  return html(c, status, frame, <SignInPage {...props} />, headers);
}

async function mailLink(ui: Ui, c: Ctx): Promise<Response> {
  const again = (refused: FormRefusal, form: URLSearchParams): Promise<Response> =>
    signInPage(ui, c, { ...refused, email: emailIn(form) });
  const form = await checkedForm(ui, c, { text: START, again });
  if (form instanceof Response) return form;
  const { inbox } = ui;
  const email = emailIn(form);
  // Agents read mail to project addresses, so these can't sign in.
  if (!isMailAddress(email) || domainOf(email) === inbox.mailDomain) {
    const problem = 'Please write a plain address, such as ana@example.com.';
    return signInPage(ui, c, { status: 400, problem, email });
  }
  try {
    await inbox.signIn.start(email, clientAddress(c));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500 !== isMail(error)) throw error;
    const problem = [error.message, error.hint].filter(Boolean).join(' ');
    return signInPage(ui, c, { status: error.status, problem, email });
  }
  const frame = newFrame(ui);
  const isConnecting = waitingRequest(ui, c) !== null;
  return html(c, 200, frame, <MailedPage {...{ frame, isConnecting, readBy: inbox.mailReadBy }} />);
}

function emailIn(form: URLSearchParams): string {
  return form.get('email')?.trim() ?? '';
}

function isMail({ code }: ServiceError): boolean {
  return code === 'EMAIL_DELIVERY_FAILED';
}

async function linkOf(ui: Ui, c: Ctx, kind: Link['holder']['kind']): Promise<Link | null> {
  const token = tokenOf(c);
  const link = token === null ? null : await ui.inbox.sessions.findLink(token);
  return link?.holder.kind === kind ? link : null;
}

async function lookAtLink(
  ui: Ui,
  c: Ctx,
  kind: Link['holder']['kind'],
  { status = 200, problem = null }: FormRefusal = {},
): Promise<Response> {
  const link = await linkOf(ui, c, kind);
  if (!link) return deadLink(ui, c);
  const projects = await ui.inbox.access.projectsOf(link);
  const frame = newFrame(ui);
  const isOther = await isOtherSession(ui, c, link);
  const isOwnDoing = kind === 'key' && !isOther && senderOf(c).site === 'none';
  const { forms } = ui.inbox;
  const text = linkText(link.token);
  const csrf = isOwnDoing ? forms.makeReady(text) : forms.make(text);
  const shown = { frame, csrf, projects, kind, isOther, isOwnDoing, problem };
  return html(c, status, frame, <EnterPage {...shown} />);
}

/** Whether the browser that opens this link has a session for someone else. */
async function isOtherSession(ui: Ui, c: Ctx, { holder }: Link): Promise<boolean> {
  const session = await sessionOf(ui, c);
  return session !== null && whoIs(session.holder) !== whoIs(holder);
}

function whoIs(holder: Link['holder']): string {
  return holder.kind === 'key' ? `key|${holder.keyId}` : `owner|${holder.address}`;
}

async function useLink(ui: Ui, c: Ctx, kind: Link['holder']['kind']): Promise<Response> {
  const form = await checkedForm(ui, c, {
    text: linkText(tokenOf(c) ?? ''),
    again: (refused) => lookAtLink(ui, c, kind, refused),
  });
  if (form instanceof Response) return form;
  const link = await linkOf(ui, c, kind);
  const { sessions, access } = ui.inbox;
  if (link && form.get('act') === 'deny') {
    await sessions.drop(link.token);
    return message(ui, c, {
      status: 200,
      heading: 'Nobody was signed in',
      text: 'The link no longer works, and doesn’t count against the links that you may ask for.',
    });
  }
  const secret = link && (await sessions.begin(link, clientAddress(c)));
  if (!link || secret === null) return deadLink(ui, c);
  await endSession(ui, c);
  const waiting = kind === 'owner' ? waitingRequest(ui, c) : null;
  const location =
    waiting === null
      ? firstPage(ui, c, await access.projectsOf(link))
      : `${ui.root}/authorize?${waiting}`;
  return goTo(c, location, { 'Set-Cookie': setCookie(ui, secret) });
}

/** The page that the link names, if there is only one project to show it for. */
function firstPage(ui: Ui, c: Ctx, [project, another]: readonly ProjectInfo[]): string {
  const page = c.req.query('page') ?? '';
  const isDirect = project !== undefined && another === undefined && UI_PAGE.test(page);
  return isDirect ? `${ui.root}/p/${project.slug}/${page}` : ui.root;
}

function joinText(token: string): string {
  return `POST|ui-join|1|${token}`;
}

/** Opening an invitation accepts nothing: mail scanners open links. */
async function showInvitation(
  ui: Ui,
  c: Ctx,
  { status = 200, problem = null }: FormRefusal = {},
): Promise<Response> {
  const token = tokenOf(c);
  const invitation = token === null ? null : await ui.inbox.joining?.open(token);
  if (token === null || !invitation) return deadInvitation(ui, c);
  const frame = newFrame(ui);
  const csrf = ui.inbox.forms.make(joinText(token));
  return html(c, status, frame, <JoinPage {...{ frame, csrf, invitation, problem }} />);
}

/**
 * Accepts, and signs in who is new here. An invitation is good for a week and may be forwarded, so it opens no account
 * that was there before, with all its projects.
 */
async function join(ui: Ui, c: Ctx): Promise<Response> {
  const token = tokenOf(c) ?? '';
  const form = await checkedForm(ui, c, {
    text: joinText(token),
    again: (refused) => showInvitation(ui, c, refused),
  });
  if (form instanceof Response) return form;
  const { joining, sessions } = ui.inbox;
  const accepted = await joining?.accept(token);
  if (!accepted) return deadInvitation(ui, c);
  if (accepted.outcome === 'other_spelling') return otherSpelling(ui, c);
  const { address, isNew, project } = accepted;
  const location = `${ui.root}/p/${project.slug}/members?joined=1`;
  if (!isNew) return (await isSignedIn(ui, c, address)) ? goTo(c, location) : signInAfter(ui, c);
  const secret = await sessions.beginFor(address, clientAddress(c));
  if (secret === null) return deadInvitation(ui, c);
  await endSession(ui, c);
  return goTo(c, location, { 'Set-Cookie': setCookie(ui, secret) });
}

async function isSignedIn(ui: Ui, c: Ctx, address: string): Promise<boolean> {
  const holder = (await sessionOf(ui, c))?.holder;
  return holder?.kind === 'owner' && holder.address === address;
}

function signInAfter(ui: Ui, c: Ctx): Response {
  return goTo(c, `${ui.root}/sign-in?joined=1`);
}

function otherSpelling(ui: Ui, c: Ctx): Promise<Response> {
  return message(ui, c, {
    status: 409,
    heading: 'Use the other spelling of your address',
    text: 'This mailbox already has an account, under another spelling of the address. Ask whoever invited you to invite that one, perhaps without the part after the plus sign.',
  });
}

function deadInvitation(ui: Ui, c: Ctx): Promise<Response> {
  return message(ui, c, {
    status: 404,
    heading: 'This invitation doesn’t work',
    text: 'It was already used or withdrawn, or it has expired. If you joined before, open the inbox and sign in. Otherwise ask whoever invited you for a new one.',
  });
}

function deadLink(ui: Ui, c: Ctx): Promise<Response> {
  return message(ui, c, {
    status: 404,
    heading: 'This link doesn’t work',
    text: 'It was already used, or it has expired. Run svc open again, or ask for a new link by email.',
  });
}

async function signOut(ui: Ui, c: Ctx): Promise<Response> {
  const session = await sessionOf(ui, c);
  if (!session) return goTo(c, `${ui.root}/sign-in`, { 'Set-Cookie': clearCookie(ui) });
  const form = await checkedForm(ui, c, { text: sessionCsrf(session) });
  if (form instanceof Response) return form;
  await ui.inbox.sessions.end(session);
  return goTo(c, `${ui.root}/sign-in?out=1`, { 'Set-Cookie': clearCookie(ui) });
}

/** Ends the browser's previous session, whose cookie is gone. */
async function endSession(ui: Ui, c: Ctx): Promise<void> {
  const session = await sessionOf(ui, c);
  if (session) await ui.inbox.sessions.end(session);
}

interface FormCheck {
  /** What its page signed. */
  readonly text: string;
  /** Shows the page again; missing where a button gives nobody anything, so that it works at once. */
  readonly again?: (refused: FormRefusal, form: URLSearchParams) => Promise<Response>;
}

/** Returns the form if it comes from one of our pages that this person opened; otherwise the answer that refuses it. */
async function checkedForm(
  ui: Ui,
  c: Ctx,
  { text, again }: FormCheck,
): Promise<URLSearchParams | Response> {
  if (isForeign(senderOf(c), ui.ownOrigin)) return foreignForm(ui, c);
  if (!isForm(c)) return outdatedForm(ui, c);
  const form = new URLSearchParams(await bodyOf(c, SIGN_IN_BODY_MAX_BYTES));
  const judged = ui.inbox.forms.judge(text, form.get('csrf') ?? '');
  if (judged === 'invalid') return outdatedForm(ui, c);
  return judged === 'early' && again
    ? again({ status: 409, problem: `Nothing was done. ${FORM_PROBLEMS.early}` }, form)
    : form;
}
