import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import { Hono, type Context } from 'hono';
import { nothingAt } from '../../shared/api/api.ts';
import {
  identify,
  methodNotAllowed,
  logOf,
  reply,
  shownError,
  type HttpEnv,
  type OnInternalError,
} from '../../shared/api/http.ts';
import { readBody, refuseEncoded } from '../../shared/api/read-body.ts';
import type { ServerInfo } from '../../shared/kernel/context.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { OAuth } from '../auth/oauth/oauth.ts';
import type { OpenOAuth } from '../auth/oauth/offer.ts';
import { metadataAt } from '../auth/oauth/metadata.ts';
import { clientAddress, networkOf } from '../lib/client-address.ts';
import { isForm } from '../web/pages/page-answers.tsx';

interface Deps {
  readonly oauth: OpenOAuth;
  readonly server: ServerInfo;
  readonly clock: Clock;
  readonly onInternal: OnInternalError;
}

type Ctx = Context<HttpEnv>;

const BODY_MAX_BYTES = 16 * 1024;

/** Discovery, and the endpoints that programs call (RFC 6749, 7009, 7591). Each limits its callers before it reads. */
export function oauthRoutes(deps: Deps): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>().use(identify);
  app.onError((error, c) => refusal(deps, c, error));
  app.all('/.well-known/*', (c) => metadata(deps, c));
  app.all('/oauth/token', async (c) => {
    const { oauth, body } = await received(deps, c);
    return json(c, 200, await oauth.tokens.issue(formOf(c, body)));
  });
  app.all('/oauth/revoke', async (c) => {
    const { oauth, body } = await received(deps, c);
    await oauth.tokens.revoke(formOf(c, body));
    return reply(c, null, 200, NO_STORE);
  });
  app.all('/oauth/register', async (c) => {
    const { oauth, body } = await received(deps, c);
    return json(c, 201, oauth.clients.register(body));
  });
  return app;
}

const NO_STORE = { 'Cache-Control': 'no-store' };

function json(c: Ctx, status: number, value: unknown, headers = {}): Response {
  const own = { 'Content-Type': 'application/json', ...NO_STORE };
  return reply(c, JSON.stringify(value), status, { ...own, ...headers });
}

async function metadata({ server }: Deps, c: Ctx): Promise<Response> {
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD']);
  const found = metadataAt(c.env.incoming.url ?? '/', server);
  if (!found) throw nothingAt(c.req.path);
  return reply(c, await found.text(), 200, {
    'Content-Type': 'application/json',
    'Cache-Control': 'public, max-age=300',
  });
}

interface OAuthRequest {
  readonly oauth: OAuth;
  readonly body: string;
}

async function received({ oauth: open, clock }: Deps, c: Ctx): Promise<OAuthRequest> {
  if (c.req.method !== 'POST') throw methodNotAllowed(['POST']);
  const oauth = await open();
  oauth.limiter.take(networkOf(clientAddress(c)), clock.now());
  refuseEncoded(c.env.incoming);
  const body = await readBody(c.env, BODY_MAX_BYTES);
  return { oauth, body: body.toString('utf8') };
}

function formOf(c: Ctx, body: string): URLSearchParams {
  if (isForm(c)) return new URLSearchParams(body);
  const reason = 'Send the parameters as application/x-www-form-urlencoded.';
  throw new OAuthError(OAuthErrorCode.InvalidRequest, reason);
}

/** Errors in the form of RFC 6749, section 5.2. */
function refusal({ onInternal }: Deps, c: Ctx, cause: unknown): Response {
  if (cause instanceof OAuthError) return json(c, 400, cause.toResponseObject());
  const shown = shownError(cause, c.get('requestId'), logOf(c, onInternal));
  const code = CODES.get(shown.status) ?? OAuthErrorCode.InvalidRequest;
  const text = [shown.message, shown.hint].filter((part) => part !== null).join(' ');
  return json(c, shown.status, new OAuthError(code, text).toResponseObject(), shown.headers());
}

const CODES: ReadonlyMap<number, OAuthErrorCode> = new Map([
  [429, OAuthErrorCode.TooManyRequests],
  [500, OAuthErrorCode.ServerError],
  [503, OAuthErrorCode.TemporarilyUnavailable],
]);
