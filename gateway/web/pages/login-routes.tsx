import { Hono } from 'hono';
import type { HttpEnv } from '../../../shared/api/http.ts';
import { SIGN_IN_BODY_MAX_BYTES } from '../../../shared/lib/limits.ts';
import type { LoginService, LoginView } from '../../auth/login-service.ts';
import { LOGIN_CODES_MAX } from '../../../shared/lib/limits.ts';
import { isForeign, signInText } from './csrf.ts';
import { readForm } from './form.ts';
import { DeadLoginPage, LoginPage } from './login-page.tsx';
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

interface Pages extends Pick<PagesOptions, 'forms'> {
  readonly logins: LoginService;
  readonly ownOrigin: string;
}

/** The page behind the link in a sign-in mail. Opening it never confirms, because mail scanners open links. */
export function loginPages(logins: LoginService, options: PagesOptions): Hono<HttpEnv> {
  const { publicUrl, forms } = options;
  const pages: Pages = { logins, forms, ownOrigin: new URL(publicUrl).origin };
  const app = new Hono<HttpEnv>();
  app.onError((error, c) => failed(c, error, options.onInternal));
  app.get('/s/:token', (c) => look(pages, c));
  app.post('/s/:token', (c) => press(pages, c));
  app.all('/s/:token', notAllowed);
  return app;
}

const WRONG_CODE = 'That’s not the code in your terminal. You can try once more.';

async function look(pages: Pages, c: Ctx): Promise<Response> {
  const token = tokenOf(c);
  const login = token === null ? null : await pages.logins.open(token);
  if (token === null || login === null) return page(c, 404, <DeadLoginPage />);
  return show(pages, c, { token, login });
}

interface PageResult {
  readonly token: string;
  readonly login: LoginView;
  readonly status?: 200 | 400 | 403 | 409 | 415;
  readonly problem?: string;
}

function show({ forms }: Pages, c: Ctx, shown: PageResult): Promise<Response> {
  const { token, login, status = 200 } = shown;
  const { problem = login.codesLeft < LOGIN_CODES_MAX ? WRONG_CODE : null } = shown;
  const csrf = forms.make(signInText(token));
  return page(c, status, <LoginPage login={login} csrf={csrf} problem={problem} />);
}

async function press(pages: Pages, c: Ctx): Promise<Response> {
  if (isForeign(senderOf(c), pages.ownOrigin)) return foreign(c);
  const token = tokenOf(c);
  const login = token === null ? null : await pages.logins.open(token);
  if (token === null || login === null) return page(c, 404, <DeadLoginPage />);
  const refuse = (status: 400 | 403 | 409 | 415, problem: string): Promise<Response> =>
    show(pages, c, { token, login, status, problem });
  if (!isForm(c)) return refuse(415, FORM_PROBLEMS.noForm);
  const form = readForm(await bodyOf(c, SIGN_IN_BODY_MAX_BYTES));
  if (form === null) return refuse(400, FORM_PROBLEMS.unclear);
  const refused = formProblem(pages, signInText(token), form.csrf);
  if (refused !== null) return refuse(refused.status, refused.problem);
  if (form.verb === 'deny') await pages.logins.deny(token);
  else if (form.verb === 'confirm') return confirm(pages, c, { token, login, code: form.code });
  else return refuse(400, 'No button was pressed.');
  return seeOther(c, token);
}

interface CodeForm {
  readonly token: string;
  readonly login: LoginView;
  readonly code: string | undefined;
}

/** Without a code nothing is counted. The page says that one was wrong, as long as there is another try. */
async function confirm(pages: Pages, c: Ctx, { token, login, code }: CodeForm): Promise<Response> {
  if (login.state !== 'waiting') return seeOther(c, token);
  if (code === undefined) {
    const problem = 'Type the code that your terminal shows.';
    return show(pages, c, { token, login, status: 400, problem });
  }
  await pages.logins.confirm(token, code);
  return seeOther(c, token);
}
