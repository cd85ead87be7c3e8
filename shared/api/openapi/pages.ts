import { COMMON_HEADERS, inPath } from './responses.ts';

type Json = Record<string, unknown>;

/** The pages for people who decide a request or verify an address. */
export function pagePaths(): Record<string, Json> {
  return {
    '/a/{token}': { get: REQUEST_PAGE, post: REQUEST_FORM },
    '/c/{token}': { get: CHANNEL_PAGE, post: CHANNEL_FORM },
  };
}

const HTML = { 'text/html': { schema: { type: 'string' } } };

/** Pages explain errors to people, so error responses are pages too. */
export function pageResponses(texts: Readonly<Record<number, string>>): Json {
  const all = {
    ...texts,
    404: 'The link is none, or no longer one.',
    405: 'There is nothing to do here by this method.',
    default: 'Something went wrong: the page, opened again, shows what stands.',
  };
  return Object.fromEntries(
    Object.entries(all).map(([status, description]) => [
      status,
      { description, headers: COMMON_HEADERS, content: HTML },
    ]),
  );
}

export function formBody(properties: Json): Json {
  return {
    required: true,
    content: {
      'application/x-www-form-urlencoded': {
        schema: { type: 'object', required: ['csrf'], properties },
      },
    },
  };
}

export const CSRF = { type: 'string', description: 'From the page that was looked at.' };
export const SEEN = {
  description: 'Taken, or to be confirmed on the page that Location names.',
  headers: {
    ...COMMON_HEADERS,
    Location: { description: 'A page beside this one.', schema: { type: 'string' } },
  },
};
export const REFUSED_FORMS = {
  403: 'The form is not from a page of ours, or is out of date.',
  413: 'Too long.',
};

export const PAGE = { tags: ['pages'], security: [], parameters: inPath('token') };

const REQUEST_PAGE = {
  operationId: 'request_page',
  summary: 'Look at a request, in a browser.',
  description:
    'The link in the message that asks a person. Looking never decides. There is no way to decide with an API key.',
  ...PAGE,
  responses: pageResponses({ 200: 'What is asked, or how it was decided.' }),
};

const REQUEST_FORM = {
  operationId: 'request_decide',
  summary: 'Decide, by the form of the page.',
  description:
    'A person approves, denies, chooses an option, answers, or asks for more. Approving what has a high risk takes a ' +
    'second step. The first decision stands.',
  ...PAGE,
  requestBody: formBody({
    csrf: CSRF,
    verb: { type: 'string', enum: ['approve', 'deny', 'option', 'answer', 'needs_context'] },
    index: { type: 'string', description: 'Which option, from 0.' },
    text: { type: 'string', description: 'The answer to a question.' },
    comment: { type: 'string', description: 'For the agent; with needs_context what is missing.' },
    confirm: { type: 'string', description: 'What the page of the second step carries.' },
  }),
  responses: {
    303: SEEN,
    ...pageResponses({
      ...REFUSED_FORMS,
      400: 'The choice does not fit: the page says why.',
      415: 'That was not a form.',
    }),
  },
};

const CHANNEL_PAGE = {
  operationId: 'channel_page',
  summary: 'Look at an address that is to be confirmed.',
  description: 'The link in the mail that channel_add sends. Looking never confirms.',
  ...PAGE,
  responses: pageResponses({ 200: 'Whose project it is, and what confirming means.' }),
};

const CHANNEL_FORM = {
  operationId: 'channel_confirm',
  summary: 'Confirm an address, by the form of the page.',
  description: 'The channel is verified then; it becomes active once the owner approves it.',
  ...PAGE,
  requestBody: formBody({ csrf: CSRF }),
  responses: { 303: SEEN, ...pageResponses(REFUSED_FORMS) },
};
