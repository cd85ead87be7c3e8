import type * as z from 'zod';
import type { ErrorCode } from '../../lib/errors.ts';
import { jsonSchema } from '../fields.ts';
import { IDEMPOTENCY_PARAMETER, REPLAYED_HEADERS } from './input.ts';
import { errorResponses, jsonResponse, ANYWHERE } from './responses.ts';
import { pascal, type Schemas } from './schemas.ts';
import {
  keyAnswer,
  keyInput,
  pollAnswer,
  pollInput,
  projectAnswer,
  projectInput,
  startAnswer,
  startInput,
} from '../sign-in.ts';

type Json = Record<string, unknown>;

export const SIGN_IN_TAG = 'auth';

/** The sign-in routes. */
export function signInPaths(schemas: Schemas): Record<string, Json> {
  return {
    '/v1/auth/start': { post: describe(START, schemas) },
    '/v1/auth/poll': { post: describe(POLL, schemas) },
    '/v1/auth/keys': { post: describe(KEYS, schemas) },
    '/v1/projects': { post: describe(PROJECTS, schemas) },
  };
}

interface Route {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly input: z.ZodType;
  readonly example: Json;
  readonly status: 200 | 201;
  readonly output: z.ZodType;
  readonly errors: readonly ErrorCode[];
}

const COMMON: readonly ErrorCode[] = [
  'VALIDATION_FAILED',
  'METHOD_NOT_ALLOWED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  ...ANYWHERE,
];
const OF_LOGINS: readonly ErrorCode[] = ['LOGIN_NOT_VERIFIED', 'LOGIN_EXPIRED', 'LOGIN_CONSUMED'];

function describe({ operationId, summary, description, ...route }: Route, schemas: Schemas): Json {
  const answer = schemas.add(`${pascal(operationId)}Answer`, {
    description: `The answer of ${operationId}.`,
    ...jsonSchema(route.output, 'output'),
  });
  return {
    operationId,
    tags: [SIGN_IN_TAG],
    summary,
    description,
    security: [],
    ...(route.status === 201 && { parameters: [IDEMPOTENCY_PARAMETER] }),
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: jsonSchema(route.input, 'input'), example: route.example },
      },
    },
    responses: {
      [route.status]: jsonResponse(summary, answer, route.status === 201 ? REPLAYED_HEADERS : {}),
      ...errorResponses([...COMMON, ...route.errors]),
    },
  };
}

const LOGIN_ID = 'lgn_9fKq2Zr7Yw4Tb1Nc8Vd3Xg6Hj5Lm0Ps2';

const START: Route = {
  operationId: 'auth_start',
  summary: 'Start a sign-in.',
  description:
    'Mails a link to the address. Show the `user_code`, then poll. The person types it on the linked page. ' +
    'Known and unknown addresses get the same answer. Five per hour, address and network, and ten from networks that the ' +
    'account never signed in from.',
  input: startInput,
  example: { email: 'ana@example.com', client: { name: 'svc', version: '0.1.0', host: 'laptop' } },
  status: 200,
  output: startAnswer,
  errors: ['RATE_LIMITED', 'EMAIL_DELIVERY_FAILED'],
};

const POLL: Route = {
  operationId: 'auth_poll',
  summary: 'Check whether a sign-in is confirmed.',
  description:
    'LOGIN_NOT_VERIFIED until then: ask again after `interval` seconds, at most once a second. A confirmed sign-in ' +
    'can be used once within 15 minutes, to create a project or a key.',
  input: pollInput,
  example: { login_id: LOGIN_ID },
  status: 200,
  output: pollAnswer,
  errors: [...OF_LOGINS, 'RATE_LIMITED'],
};

const KEYS: Route = {
  operationId: 'auth_key_create',
  summary: 'Create a key for one of your projects.',
  description:
    'Uses up a confirmed sign-in. For 15 minutes, a repeat with the same Idempotency-Key gets the same answer.',
  input: keyInput,
  example: { login_id: LOGIN_ID, project_id: 'prj_0123456789abcdef', key_name: 'laptop' },
  status: 201,
  output: keyAnswer,
  errors: [...OF_LOGINS, 'NOT_FOUND', 'KEY_LIMIT_REACHED', 'IDEMPOTENCY_IN_PROGRESS'],
};

const PROJECTS: Route = {
  operationId: 'project_create',
  summary: 'Create a project with a first key that may do everything.',
  description:
    "Uses up a confirmed sign-in; its address becomes the owner's channel. For 15 minutes, a repeat with the same " +
    'Idempotency-Key gets the same answer.',
  input: projectInput,
  example: { login_id: LOGIN_ID, name: 'Acme Shop' },
  status: 201,
  output: projectAnswer,
  errors: [...OF_LOGINS, 'SLUG_TAKEN', 'PROJECT_LIMIT_REACHED', 'IDEMPOTENCY_IN_PROGRESS'],
};
