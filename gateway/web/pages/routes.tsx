import { Hono } from 'hono';
import type { HttpEnv } from '../../../shared/api/http.ts';
import type { Choice, ApprovalService, OpenedRequest } from '../../approvals/approvals.ts';
import { besideDecision } from './beside.ts';
import { ChannelPage } from './channel-page.tsx';
import { ConfirmPage } from './confirm-page.tsx';
import { addressText, decisionText, isForeign, openStep, sealStep } from './csrf.ts';
import { afterChoice, readChoice, readForm, type Form, type ReadChoice } from './form.ts';
import { DeadLinkPage } from './message-page.tsx';
import {
  bodyOf,
  failed,
  FORM_PROBLEMS,
  foreign,
  formProblem,
  isForm,
  notAllowed,
  page,
  seeOther,
  senderOf,
  tokenOf,
  type Ctx,
  type PagesOptions,
} from './page-answers.tsx';
import { RequestPage } from './request-page.tsx';
import { ResultPage } from './result-page.tsx';
import { needsSecondStep } from './second-step.ts';
import { isVerb, statusAt } from './copy.ts';

interface Pages extends Pick<PagesOptions, 'forms' | 'vault'> {
  readonly approvals: ApprovalService;
  readonly ownOrigin: string;
}

const NO_FORM: Form = {};

/** The pages behind links in messages: requests to decide and addresses to verify. Opening a page never decides. */
export function pageRoutes(approvals: ApprovalService, options: PagesOptions): Hono<HttpEnv> {
  const { publicUrl, vault, forms } = options;
  const pages: Pages = { approvals, vault, forms, ownOrigin: new URL(publicUrl).origin };
  const app = new Hono<HttpEnv>();
  app.onError((error, c) => failed(c, error, options.onInternal));
  app.get('/a/:token', (c) => showRequest(pages, c));
  app.post('/a/:token', (c) => decide(pages, c));
  app.all('/a/:token', notAllowed);
  app.get('/c/:token', (c) => showChannel(pages, c));
  app.post('/c/:token', (c) => confirmChannel(pages, c));
  app.all('/c/:token', notAllowed);
  return app;
}

async function showRequest(pages: Pages, c: Ctx): Promise<Response> {
  const token = tokenOf(c);
  const opened = token === null ? null : await pages.approvals.open(token);
  if (token === null || opened === null) return page(c, 404, <DeadLinkPage />);
  const step = c.req.query('step');
  const choice = isOver(opened) ? null : openStep(pages.vault, token, opened, step);
  if (step !== undefined && choice !== null) {
    const csrf = pages.forms.make(decisionText(token, opened));
    const confirm = { opened, choice, csrf, step };
    return page(c, 200, <ConfirmPage {...confirm} />);
  }
  const late = c.req.query('late');
  const recorded = c.req.query('recorded') !== undefined;
  return show(pages, c, { token, opened, late: isVerb(late) ? late : null, recorded });
}

interface PageResult {
  readonly token: string;
  readonly opened: OpenedRequest;
  readonly late?: Choice['verb'] | null;
  readonly recorded?: boolean;
  readonly status?: 200 | 400 | 403 | 409 | 413 | 415;
  readonly problem?: string;
  readonly form?: Form;
}

/** The page of a request in its current state. */
function show(pages: Pages, c: Ctx, shown: PageResult): Promise<Response> {
  const { token, opened, late = null, status = 200, problem = null } = shown;
  const current = statusAt(opened.request, opened.now);
  const csrf = pages.forms.make(decisionText(token, opened));
  if (current !== 'pending') {
    return page(c, status, <ResultPage {...{ opened, late, csrf }} status={current} />);
  }
  const { form = NO_FORM, recorded = false } = shown;
  return page(c, status, <RequestPage {...{ opened, csrf, problem, form, recorded }} />);
}

async function decide(pages: Pages, c: Ctx): Promise<Response> {
  if (isForeign(senderOf(c), pages.ownOrigin)) return foreign(c);
  const token = tokenOf(c);
  const opened = token === null ? null : await pages.approvals.open(token);
  if (token === null || opened === null) return page(c, 404, <DeadLinkPage />);
  if (!isForm(c)) {
    return show(pages, c, { token, opened, status: 415, problem: FORM_PROBLEMS.noForm });
  }
  const form = readForm(await bodyOf(c));
  if (form === null) {
    return show(pages, c, { token, opened, status: 400, problem: FORM_PROBLEMS.unclear });
  }
  const refused = formProblem(pages, decisionText(token, opened), form.csrf);
  if (refused !== null) return show(pages, c, { token, opened, form, ...refused });
  const done = await besideDecision(pages.approvals, token, { form, place: 'link' });
  if (done !== undefined) return done ? seeOther(c, token) : page(c, 404, <DeadLinkPage />);
  const read =
    form.confirm === undefined ? readChoice(form) : confirmed(pages, token, opened, form);
  if (read.choice === null) {
    return show(pages, c, { token, opened, status: 400, problem: read.problem, form });
  }
  return take(pages, c, { token, opened, form, choice: read.choice });
}

/** The choice of the first step, as the second step's page showed it. */
function confirmed(pages: Pages, token: string, opened: OpenedRequest, form: Form): ReadChoice {
  const choice = openStep(pages.vault, token, opened, form.confirm);
  return choice === null ? { choice, problem: FORM_PROBLEMS.outdated } : { choice };
}

interface ChoiceForm {
  readonly token: string;
  readonly opened: OpenedRequest;
  readonly form: Form;
  readonly choice: Choice;
}

/** Records a choice made on our page, unless it needs confirmation first. */
async function take(pages: Pages, c: Ctx, taken: ChoiceForm): Promise<Response> {
  const { token, opened, form, choice } = taken;
  if (form.confirm === undefined && needsSecondStep(opened, choice)) {
    return seeOther(c, `${token}?step=${sealStep(pages.vault, token, opened, choice)}`);
  }
  const decided = await pages.approvals.decide(token, choice);
  if (decided === null) return page(c, 404, <DeadLinkPage />);
  if (decided.outcome === 'refused') {
    const { opened: now, problem } = decided;
    return show(pages, c, { token, opened: now, status: 400, problem, form });
  }
  return seeOther(c, token + afterChoice(decided.outcome, choice));
}

async function showChannel(pages: Pages, c: Ctx): Promise<Response> {
  const token = tokenOf(c);
  const channel = token === null ? null : await pages.approvals.openChannel(token);
  if (token === null || channel === null) return page(c, 404, <DeadLinkPage />);
  const csrf = pages.forms.make(addressText(token));
  return page(c, 200, <ChannelPage channel={channel} csrf={csrf} problem={null} />);
}

async function confirmChannel(pages: Pages, c: Ctx): Promise<Response> {
  if (isForeign(senderOf(c), pages.ownOrigin)) return foreign(c);
  const token = tokenOf(c);
  const channel = token === null ? null : await pages.approvals.openChannel(token);
  if (token === null || channel === null) return page(c, 404, <DeadLinkPage />);
  const form = isForm(c) ? readForm(await bodyOf(c)) : null;
  const refused = formProblem(pages, addressText(token), form?.csrf);
  if (refused !== null) {
    const csrf = pages.forms.make(addressText(token));
    const { status, problem } = refused;
    return page(c, status, <ChannelPage channel={channel} csrf={csrf} problem={problem} />);
  }
  const verified = await pages.approvals.verifyEmail(token);
  return verified === null ? page(c, 404, <DeadLinkPage />) : seeOther(c, token);
}

function isOver({ request, now }: OpenedRequest): boolean {
  return statusAt(request, now) !== 'pending';
}
