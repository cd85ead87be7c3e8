import { Hono, type Context } from 'hono';
import { presentedKey } from '../../../../shared/kernel/authentication.ts';
import {
  admittedOf,
  credentialsOf,
  errorResponse,
  methodNotAllowed,
  reply,
  type HttpEnv,
  type OnInternalError,
} from '../../../../shared/api/http.ts';
import { readFields } from '../../../../shared/api/rest/input.ts';
import { uiLinkInput } from './ui-links.ts';
import { isoTime } from '../../../../shared/lib/clock.ts';
import { parseFields } from '../../../../shared/kernel/operation.ts';
import type { WebInbox } from '../inbox.ts';

/** The route where `svc open` uses its key to get a link that opens the web inbox once. */
export function linkRoutes(inbox: WebInbox, onInternal: OnInternalError): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.all('/v1/ui/links', async (c) => {
    try {
      if (c.req.method !== 'POST') throw methodNotAllowed(['POST']);
      return await makeLink(inbox, c);
    } catch (error) {
      return errorResponse(error, c, onInternal);
    }
  });
  return app;
}

async function makeLink(inbox: WebInbox, c: Context<HttpEnv>): Promise<Response> {
  const { executor, publicUrl, sessions } = inbox;
  const credentials = credentialsOf(c);
  const caller = await executor.authenticate(credentials);
  admittedOf(c.env).proved('api', caller.projectId);
  const headers = executor.meter(caller);
  const { page } = parseFields(uiLinkInput, await readFields(c.env));
  const { token, expiresAt } = await sessions.linkForKey({
    projectId: caller.projectId,
    keyId: caller.keyId,
    keyHash: presentedKey(credentials).hash,
  });
  const query = page === undefined ? '' : `?page=${page}`;
  const answer = {
    url: `${publicUrl}/ui/open/${token}${query}`,
    expires_at: isoTime(expiresAt),
  };
  return reply(c, JSON.stringify(answer), 201, {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    ...headers,
  });
}
