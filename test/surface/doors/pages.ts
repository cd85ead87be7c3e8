import { COMMON_HEADERS, inPath } from '../../../shared/api/openapi/responses.ts';

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
    404: 'The link is invalid or has expired.',
    405: "This page doesn't support the method.",
    default: 'Something went wrong. Open the page again to see the current state.',
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

export const CSRF = { type: 'string', description: 'From the page that shows the form.' };
export const SEEN = {
  description: 'Accepted, or to be confirmed on the page in Location.',
  headers: {
    ...COMMON_HEADERS,
    Location: { description: 'The next page.', schema: { type: 'string' } },
  },
};
export const REFUSED_FORMS = {
  403: "The form isn't from one of our pages, or it's out of date.",
  413: 'The form is too long.',
};

export const PAGE = { tags: ['pages'], security: [], parameters: inPath('token') };

const REQUEST_PAGE = {
  operationId: 'request_page',
  summary: 'Show a request in a browser.',
  description:
    'The link in the message that asks a person. Opening it decides nothing, and no API key can decide.',
  ...PAGE,
  responses: pageResponses({ 200: 'The request, or the decision.' }),
};

const REQUEST_FORM = {
  operationId: 'request_decide',
  summary: 'Decide a request with the form on its page.',
  description:
    'A person approves, denies, chooses an option, answers, or asks for more. Approving a high-risk action takes a ' +
    'second step. The first decision counts.',
  ...PAGE,
  requestBody: formBody({
    csrf: CSRF,
    verb: {
      type: 'string',
      enum: ['approve', 'deny', 'option', 'answer', 'needs_context', 'mute', 'unmute'],
      description: '`mute` holds the messages of the request’s key back for an hour.',
    },
    index: { type: 'string', description: 'Which option, from 0.' },
    text: { type: 'string', description: 'The answer to a question.' },
    comment: {
      type: 'string',
      description: 'For the agent; required with needs_context, to say what is missing.',
    },
    confirm: { type: 'string', description: 'From the form of the second step.' },
  }),
  responses: {
    303: SEEN,
    ...pageResponses({
      ...REFUSED_FORMS,
      400: "The choice isn't possible; the page says why.",
      415: "The body isn't a form.",
    }),
  },
};

const CHANNEL_PAGE = {
  operationId: 'channel_page',
  summary: 'Show the address to confirm.',
  description: 'The link in the mail that channel_add sends. Opening it confirms nothing.',
  ...PAGE,
  responses: pageResponses({ 200: 'The project, and what confirming means.' }),
};

const CHANNEL_FORM = {
  operationId: 'channel_confirm',
  summary: 'Confirm an address with the form on its page.',
  description: 'Verifies the channel. It becomes active once the owner approves it.',
  ...PAGE,
  requestBody: formBody({ csrf: CSRF }),
  responses: { 303: SEEN, ...pageResponses(REFUSED_FORMS) },
};
