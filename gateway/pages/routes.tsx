import { Hono, type Context } from 'hono';
import type { JSX } from 'hono/jsx/jsx-runtime';
import {
  logOf,
  reply,
  shownError,
  type HttpEnv,
  type OnInternalError,
} from '../../shared/bindings/http.ts';
import { readBody, refuseEncoded } from '../../shared/bindings/read-body.ts';
import type { Vault } from '../../shared/context.ts';
import type { ServiceError } from '../../shared/errors.ts';
import { isSigned } from '../../shared/links.ts';
import type { Choice, Desk, Opened } from '../people/desk.ts';
import { ChannelPage } from './channel-page.tsx';
import { ConfirmPage } from './confirm-page.tsx';
import { render } from './document.tsx';
import { addressText, decisionText, isForeign, openStep, sealStep } from './fence.ts';
import { FORM_MAX_BYTES, readChoice, readForm, type Form, type ReadChoice } from './form.ts';
import { DeadLinkPage, MessagePage } from './message-page.tsx';
import { RequestPage } from './request-page.tsx';
import { ResultPage } from './result-page.tsx';
import { PAGE_HEADERS } from './style.ts';
import { isVerb, statusAt } from './wording.ts';

export interface PagesOptions {
  /** The address that links begin with: forms come from its origin. */
  readonly publicUrl: string;
  /** Signs forms, and seals what goes from the first step to the second. */
  readonly vault: Vault;
  readonly onInternal: OnInternalError;
}

interface Pages {
  readonly desk: Desk;
  readonly vault: Vault;
  readonly ownOrigin: string;
}

type Ctx = Context<HttpEnv>;

const TOKEN = /^[0-9A-Za-z_-]{1,256}$/;
const NO_FORM: Form = {};
const OUTDATED = 'The page was out of date. Please look once more, then choose again.';

/** The pages that links in messages lead to: a request to decide on, and an address to confirm. Looking never decides. */
export function pageRoutes(desk: Desk, options: PagesOptions): Hono<HttpEnv> {
  const { publicUrl, vault } = options;
  const pages: Pages = { desk, vault, ownOrigin: new URL(publicUrl).origin };
  const app = new Hono<HttpEnv>();
  app.onError((error, c) =>
    failed(c, shownError(error, c.get('requestId'), logOf(c, options.onInternal))),
  );
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
  const opened = token === null ? null : await pages.desk.open(token);
  if (token === null || opened === null) return page(c, 404, <DeadLinkPage />);
  const step = c.req.query('step');
  const choice = isOver(opened) ? null : openStep(pages.vault, token, opened, step);
  if (step !== undefined && choice !== null) {
    const csrf = pages.vault.sign(decisionText(token, opened));
    const confirm = { opened, choice, csrf, step };
    return page(c, 200, <ConfirmPage {...confirm} />);
  }
  const late = c.req.query('late');
  return show(pages, c, { token, opened, late: isVerb(late) ? late : null });
}

interface Shown {
  readonly token: string;
  readonly opened: Opened;
  readonly late?: Choice['verb'] | null;
  readonly status?: 200 | 400 | 403 | 413 | 415;
  readonly problem?: string;
  readonly form?: Form;
}

/** The page of a request as it stands. */
function show(pages: Pages, c: Ctx, shown: Shown): Promise<Response> {
  const { token, opened, late = null, status = 200, problem = null, form = NO_FORM } = shown;
  const standing = statusAt(opened.request, opened.now);
  if (standing !== 'pending') {
    return page(c, status, <ResultPage opened={opened} status={standing} late={late} />);
  }
  const csrf = pages.vault.sign(decisionText(token, opened));
  return page(c, status, <RequestPage opened={opened} csrf={csrf} problem={problem} form={form} />);
}

async function decide(pages: Pages, c: Ctx): Promise<Response> {
  if (isForeign(senderOf(c), pages.ownOrigin)) return foreign(c);
  const token = tokenOf(c);
  const opened = token === null ? null : await pages.desk.open(token);
  if (token === null || opened === null) return page(c, 404, <DeadLinkPage />);
  if (!isForm(c)) {
    return show(pages, c, {
      token,
      opened,
      status: 415,
      problem: 'That was not a form of this page.',
    });
  }
  const form = readForm(await bodyOf(c));
  if (form === null) {
    return show(pages, c, {
      token,
      opened,
      status: 400,
      problem: 'The form was not clear. Please choose again.',
    });
  }
  if (!isSigned(pages.vault, decisionText(token, opened), form.csrf ?? '')) {
    return show(pages, c, { token, opened, status: 403, problem: OUTDATED, form });
  }
  const read =
    form.confirm === undefined ? readChoice(form) : confirmed(pages, token, opened, form);
  if (read.choice === null) {
    return show(pages, c, { token, opened, status: 400, problem: read.problem, form });
  }
  return take(pages, c, { token, opened, form, choice: read.choice });
}

/** The choice of the first step, as the page of the second showed it. */
function confirmed(pages: Pages, token: string, opened: Opened, form: Form): ReadChoice {
  const choice = openStep(pages.vault, token, opened, form.confirm);
  return choice === null ? { choice, problem: OUTDATED } : { choice };
}

interface Taken {
  readonly token: string;
  readonly opened: Opened;
  readonly form: Form;
  readonly choice: Choice;
}

/** A choice that a person made on our page: taken, unless it has to be confirmed first. */
async function take(pages: Pages, c: Ctx, taken: Taken): Promise<Response> {
  const { token, opened, form, choice } = taken;
  if (form.confirm === undefined && needsSecondStep(opened, choice)) {
    return seeOther(c, `${token}?step=${sealStep(pages.vault, token, opened, choice)}`);
  }
  const decided = await pages.desk.decide(token, choice);
  if (decided === null) return page(c, 404, <DeadLinkPage />);
  if (decided.outcome === 'refused') {
    const { opened: now, problem } = decided;
    return show(pages, c, { token, opened: now, status: 400, problem, form });
  }
  return seeOther(c, decided.outcome === 'late' ? `${token}?late=${choice.verb}` : token);
}

/** What lets an agent go on where the risk is high. An option that is not there need not be confirmed to be refused. */
function needsSecondStep(opened: Opened, choice: Choice): boolean {
  if (opened.request.risk !== 'high' || isOver(opened)) return false;
  if (choice.verb === 'option') return opened.request.options[choice.index] !== undefined;
  return choice.verb === 'approve';
}

async function showChannel(pages: Pages, c: Ctx): Promise<Response> {
  const token = tokenOf(c);
  const channel = token === null ? null : await pages.desk.openChannel(token);
  if (token === null || channel === null) return page(c, 404, <DeadLinkPage />);
  const csrf = pages.vault.sign(addressText(token));
  return page(c, 200, <ChannelPage channel={channel} csrf={csrf} problem={null} />);
}

async function confirmChannel(pages: Pages, c: Ctx): Promise<Response> {
  if (isForeign(senderOf(c), pages.ownOrigin)) return foreign(c);
  const token = tokenOf(c);
  const channel = token === null ? null : await pages.desk.openChannel(token);
  if (token === null || channel === null) return page(c, 404, <DeadLinkPage />);
  const form = isForm(c) ? readForm(await bodyOf(c)) : null;
  if (!isSigned(pages.vault, addressText(token), form?.csrf ?? '')) {
    const csrf = pages.vault.sign(addressText(token));
    return page(c, 403, <ChannelPage channel={channel} csrf={csrf} problem={OUTDATED} />);
  }
  const verified = await pages.desk.verifyEmail(token);
  return verified === null ? page(c, 404, <DeadLinkPage />) : seeOther(c, token);
}

/** Null for what no link of ours ends with: it need not be looked for. */
function tokenOf(c: Ctx): string | null {
  const token = c.req.param('token') ?? '';
  return TOKEN.test(token) ? token : null;
}

function isOver({ request, now }: Opened): boolean {
  return statusAt(request, now) !== 'pending';
}

function isForm(c: Ctx): boolean {
  const [type = ''] = (c.req.header('content-type') ?? '').split(';');
  return type.trim().toLowerCase() === 'application/x-www-form-urlencoded';
}

async function bodyOf(c: Ctx): Promise<string> {
  refuseEncoded(c.env.incoming);
  return (await readBody(c.env.incoming, FORM_MAX_BYTES)).toString('utf8');
}

function senderOf(c: Ctx): Parameters<typeof isForeign>[0] {
  return {
    site: c.req.header('sec-fetch-site'),
    origin: c.req.header('origin'),
    host: c.req.header('host'),
  };
}

function foreign(c: Ctx): Promise<Response> {
  return page(
    c,
    403,
    <MessagePage heading="Not decided">
      <p>
        This came from a page of somebody else, so it counts for nothing. Open the link in your
        message and decide there.
      </p>
    </MessagePage>,
  );
}

function notAllowed(c: Ctx): Promise<Response> {
  return page(
    c,
    405,
    <MessagePage heading="Nothing to do here">
      <p>Open the link in your message with a browser.</p>
    </MessagePage>,
    { Allow: 'GET, HEAD, POST' },
  );
}

/** After a failure nobody here knows whether the choice was taken: the page of the link does. */
function failed(c: Ctx, error: ServiceError): Promise<Response> {
  const tooLarge = error.code === 'PAYLOAD_TOO_LARGE';
  return page(
    c,
    error.status,
    <MessagePage heading={tooLarge ? 'That was too long' : 'Something went wrong on our side'}>
      <p>
        {tooLarge
          ? 'Nothing was decided. Go back, and write less.'
          : 'Please open the link in your message again in a minute: its page shows what stands.'}
      </p>
      <p class="soft">
        Request <span class="exact mono">{c.get('requestId')}</span>
      </p>
    </MessagePage>,
    error.headers(),
  );
}

async function page(
  c: Ctx,
  status: number,
  content: JSX.Element,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return reply(c, await render(content), status, { ...PAGE_HEADERS, ...headers });
}

/** To a page beside this one, wherever a proxy put both, so that loading it again never sends a form twice. */
function seeOther(c: Ctx, location: string): Response {
  return reply(c, null, 303, { ...PAGE_HEADERS, Location: location });
}
