import { CSRF, formBody, pageResponses, REFUSED_FORMS } from './pages.ts';
import { COMMON_HEADERS, jsonResponse } from '../../../shared/api/openapi/responses.ts';

type Json = Record<string, unknown>;

/** How an MCP client lets a person sign in by OAuth 2.1, in the order in which a client calls. */
export function oauthPaths(): Record<string, Json> {
  const resource = '/.well-known/oauth-protected-resource';
  return {
    [resource]: { get: resourceMetadata('oauth_resource') },
    [`${resource}/mcp`]: { get: resourceMetadata('oauth_resource_mcp') },
    [`${resource}/mcp/readonly`]: { get: resourceMetadata('oauth_resource_mcp_read_only') },
    '/.well-known/oauth-authorization-server': { get: SERVER_METADATA },
    '/oauth/register': { post: REGISTER },
    '/ui/authorize': { get: CONSENT_PAGE, post: CONSENT_FORM },
    '/oauth/token': { post: TOKEN },
    '/oauth/revoke': { post: REVOKE },
  };
}

const PUBLIC = { tags: ['mcp'], security: [] };
const TEXT = { type: 'string' };
const TEXTS = { type: 'array', items: TEXT };

const ERROR = {
  type: 'object',
  required: ['error', 'error_description'],
  properties: { error: TEXT, error_description: TEXT },
};

/** Errors in the form of RFC 6749, section 5.2. */
function refusals(invalid: string): Json {
  return Object.fromEntries(
    [
      [400, invalid],
      [405, 'The method is not allowed.'],
      [413, 'The body is larger than 16 KB.'],
      [415, 'The body is compressed.'],
      [429, 'Too many requests: wait Retry-After seconds.'],
      [500, 'server_error.'],
      [503, 'temporarily_unavailable.'],
    ].map(([status, text]) => [status, jsonResponse(String(text), ERROR)]),
  );
}

const NOT_HERE = {
  404: jsonResponse('There is no such resource.', ERROR),
  405: jsonResponse('The method is not allowed.', ERROR),
};

function resourceMetadata(operationId: string): Json {
  return {
    operationId,
    ...PUBLIC,
    summary: 'Which authorization server an MCP address trusts (RFC 9728).',
    description: 'The WWW-Authenticate header of a 401 from `/mcp` leads here.',
    responses: {
      200: jsonResponse('The protected resource.', {
        type: 'object',
        required: ['resource', 'authorization_servers', 'scopes_supported'],
        properties: {
          resource: TEXT,
          authorization_servers: TEXTS,
          scopes_supported: TEXTS,
          resource_name: TEXT,
        },
      }),
      ...NOT_HERE,
    },
  };
}

const SERVER_METADATA = {
  operationId: 'oauth_server',
  ...PUBLIC,
  summary: 'The endpoints for signing in (RFC 8414).',
  description:
    'Authorization code with PKCE S256, for public clients. A client is the URL of its metadata document, or registers.',
  responses: {
    200: jsonResponse('The authorization server.', {
      type: 'object',
      required: ['issuer', 'authorization_endpoint', 'token_endpoint'],
      properties: {
        issuer: TEXT,
        authorization_endpoint: TEXT,
        token_endpoint: TEXT,
        registration_endpoint: TEXT,
        revocation_endpoint: TEXT,
        scopes_supported: TEXTS,
        client_id_metadata_document_supported: { type: 'boolean' },
      },
    }),
    ...NOT_HERE,
  },
};

const REGISTER = {
  operationId: 'oauth_register',
  ...PUBLIC,
  summary: 'Register a client (RFC 7591).',
  description:
    'For clients without a metadata document. The gateway stores nothing: the client_id contains the registration.',
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required: ['redirect_uris'],
          properties: {
            client_name: TEXT,
            redirect_uris: {
              ...TEXTS,
              description: 'https, or http on 127.0.0.1, [::1] or localhost.',
            },
          },
        },
        example: { client_name: 'Editor', redirect_uris: ['http://127.0.0.1/callback'] },
      },
    },
  },
  responses: {
    201: jsonResponse('The client.', {
      type: 'object',
      required: ['client_id', 'redirect_uris', 'token_endpoint_auth_method'],
      properties: {
        client_id: TEXT,
        client_name: TEXT,
        redirect_uris: TEXTS,
        token_endpoint_auth_method: { const: 'none' },
      },
    }),
    ...refusals('invalid_client_metadata or invalid_redirect_uri.'),
  },
};

function query(name: string, description: string, required = true): Json {
  return { name, in: 'query', required, description, schema: TEXT };
}

const REQUEST = [
  query('response_type', '`code`.'),
  query('client_id', 'The URL of a metadata document, or from the registration.'),
  query('redirect_uri', 'One of the client’s; only the port may differ, and only on loopback.'),
  query('code_challenge', 'PKCE.'),
  query('code_challenge_method', '`S256`.'),
  query('resource', 'The address of MCP, such as `https://svc.example.com/mcp`.', false),
  query('scope', 'The scopes that the client wants.', false),
  query('state', 'Comes back unchanged.', false),
];

const CONSENT_PAGE = {
  operationId: 'oauth_consent_page',
  ...PUBLIC,
  summary: 'Ask a person whether an app may use a project.',
  description:
    'A page for people: it asks them to sign in with a mailed link, then shows the app, the scopes and when the access ends.',
  parameters: REQUEST,
  responses: {
    303: {
      description: 'Back to the client, with an error in the query.',
      headers: { ...COMMON_HEADERS, Location: { schema: TEXT } },
    },
    ...pageResponses({
      200: 'The request for access.',
      400: 'The request can’t be shown; the page says why.',
      401: 'Sign in first.',
    }),
  },
};

const CONSENT_FORM = {
  operationId: 'oauth_consent',
  ...PUBLIC,
  summary: 'Allow or deny access with the form on its page.',
  description: 'The answer leads back to the client, with a code or an error.',
  parameters: REQUEST,
  requestBody: formBody({
    csrf: CSRF,
    verb: { type: 'string', enum: ['allow', 'deny'] },
    project: { type: 'string', description: 'The slug.' },
    scopes: TEXTS,
    lifetime: { type: 'string', description: 'Days.' },
  }),
  responses: pageResponses({
    ...REFUSED_FORMS,
    200: 'Leads back to the client.',
    400: 'Something is missing; the page says what.',
    401: 'Sign in first.',
    409: 'The project has the maximum number of keys.',
  }),
};

const FORM_TYPE = 'application/x-www-form-urlencoded';

const TOKEN = {
  operationId: 'oauth_token',
  ...PUBLIC,
  summary: 'Get an access token for a code or a refresh token.',
  description:
    'The access token is an API key that works for an hour. A code works once, for 60 seconds. A refresh token works ' +
    'once: a second use ends the access.',
  requestBody: {
    required: true,
    content: {
      [FORM_TYPE]: {
        schema: {
          type: 'object',
          required: ['grant_type', 'client_id'],
          properties: {
            grant_type: { type: 'string', enum: ['authorization_code', 'refresh_token'] },
            client_id: TEXT,
            code: TEXT,
            redirect_uri: TEXT,
            code_verifier: TEXT,
            refresh_token: TEXT,
            resource: TEXT,
          },
        },
      },
    },
  },
  responses: {
    200: jsonResponse('The tokens.', {
      type: 'object',
      required: ['access_token', 'token_type', 'expires_in', 'refresh_token', 'scope'],
      properties: {
        access_token: TEXT,
        token_type: { const: 'Bearer' },
        expires_in: { type: 'integer' },
        refresh_token: TEXT,
        scope: TEXT,
      },
    }),
    ...refusals('invalid_request, invalid_grant, invalid_target or unsupported_grant_type.'),
  },
};

const REVOKE = {
  operationId: 'oauth_revoke',
  ...PUBLIC,
  summary: 'End the access of a token (RFC 7009).',
  description: 'Ends it for the access token and the refresh token at once.',
  requestBody: {
    required: true,
    content: {
      [FORM_TYPE]: {
        schema: {
          type: 'object',
          required: ['token'],
          properties: { token: TEXT, client_id: TEXT, token_type_hint: TEXT },
        },
      },
    },
  },
  responses: {
    200: { description: 'It doesn’t work any more.', headers: COMMON_HEADERS },
    ...refusals('invalid_request.'),
  },
};
