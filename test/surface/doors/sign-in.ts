import { CSRF, formBody, PAGE, pageResponses, REFUSED_FORMS, SEEN } from './pages.ts';

/** The page of the sign-in link. */
export function signInPages(): Record<string, Record<string, unknown>> {
  return { '/s/{token}': { get: LOGIN_PAGE, post: LOGIN_FORM } };
}

const LOGIN_PAGE = {
  operationId: 'login_page',
  summary: 'Show a sign-in in a browser.',
  description: 'The link in the mail that auth/start sends. Opening it confirms nothing.',
  ...PAGE,
  responses: pageResponses({ 200: 'A field for the code, and who started it.' }),
};

const LOGIN_FORM = {
  operationId: 'login_confirm',
  summary: 'Confirm or deny a sign-in with the form on its page.',
  description:
    'To confirm, `code` must be the `user_code`. The second wrong one denies the sign-in. The first answer counts.',
  ...PAGE,
  requestBody: formBody({
    csrf: CSRF,
    verb: { type: 'string', enum: ['confirm', 'deny'] },
    code: { type: 'string' },
  }),
  responses: {
    303: SEEN,
    ...pageResponses({
      ...REFUSED_FORMS,
      400: 'No button was pressed, or the code is missing.',
      415: "The body isn't a form.",
    }),
  },
};
