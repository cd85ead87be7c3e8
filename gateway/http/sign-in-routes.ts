import { Hono, type Context } from 'hono';
import {
  errorResponse,
  methodNotAllowed,
  reply,
  type HttpEnv,
  type OnInternalError,
} from '../../shared/api/http.ts';
import { readFields } from '../../shared/api/rest/input.ts';
import { keyInput, pollInput, projectInput, startInput } from '../../shared/api/sign-in.ts';
import { parseFields } from '../../shared/kernel/operation.ts';
import { markHeaders } from '../../shared/api/answer-marks.ts';
import { checkedIdempotencyKey } from '../../shared/kernel/caller.ts';
import { SIGN_IN_BODY_MAX_BYTES } from '../../shared/lib/limits.ts';
import { clientAddress } from '../lib/client-address.ts';
import type { SignIn } from '../auth/sign-in.ts';

const USER_AGENT_MAX_CHARS = 300;

type Ctx = Context<HttpEnv>;

interface Answer {
  readonly status: 200 | 201;
  readonly value: unknown;
  readonly replayed?: boolean;
}

type Respond = (fields: unknown, c: Ctx) => Promise<Answer>;

/** The sign-in routes, which need no key. */
export function signInRoutes(signIn: SignIn, onInternal: OnInternalError): Hono<HttpEnv> {
  const { logins, projectSetup } = signIn;
  const routes: Readonly<Record<string, Respond>> = {
    '/v1/auth/start': async (fields, c) => {
      const value = await logins.start(parseFields(startInput, fields), {
        address: clientAddress(c),
        userAgent: c.req.header('user-agent')?.slice(0, USER_AGENT_MAX_CHARS) ?? null,
      });
      return { status: 200, value };
    },
    '/v1/auth/poll': async (fields) => {
      return { status: 200, value: await logins.poll(parseFields(pollInput, fields)) };
    },
    '/v1/auth/keys': async (fields, c) => {
      const input = parseFields(keyInput, fields);
      return { status: 201, ...(await projectSetup.createKey(input, idempotencyKey(c))) };
    },
    '/v1/projects': async (fields, c) => {
      const input = parseFields(projectInput, fields);
      return { status: 201, ...(await projectSetup.createProject(input, idempotencyKey(c))) };
    },
  };
  const app = new Hono<HttpEnv>();
  for (const [path, respond] of Object.entries(routes)) {
    app.all(path, (c) => answer(c, respond, onInternal));
  }
  return app;
}

async function answer(c: Ctx, respond: Respond, onInternal: OnInternalError): Promise<Response> {
  try {
    if (c.req.method !== 'POST') throw methodNotAllowed(['POST']);
    const { status, ...made } = await respond(await readFields(c.env, SIGN_IN_BODY_MAX_BYTES), c);
    return reply(c, JSON.stringify(made.value), status, {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      ...markHeaders(made),
    });
  } catch (error) {
    return errorResponse(error, c, onInternal);
  }
}

function idempotencyKey(c: Ctx): string | null {
  return checkedIdempotencyKey(c.req.header('idempotency-key'));
}
