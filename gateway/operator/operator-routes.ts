import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import * as z from 'zod';
import { methodNotAllowed } from '../../shared/bindings/http.ts';
import { readBody } from '../../shared/bindings/read-body.ts';
import { asServiceError, invalid, ServiceError } from '../../shared/errors.ts';
import { answerError, answerJson } from '../../shared/http/answers.ts';
import type { Handler } from '../../shared/http/http-server.ts';
import { LIST_MAX } from '../../shared/limits.ts';
import { label } from '../../shared/operations/fields.ts';
import type { Obeyed, OperatorDesk } from './operator-desk.ts';

interface RoutesParts {
  readonly desk: OperatorDesk;
  readonly log: Logger;
}

const BODY_MAX_BYTES = 16 * 1024;
const REASON_MAX_CHARS = 200;
const ORDER = /^\/projects\/([^/]+)\/(block|unblock)$/;

const blockInput = z.strictObject({
  reason: label(REASON_MAX_CHARS).refine((text) => text.trim() !== '', 'Say why.'),
});

/**
 * What the operator may ask for, in JSON: `GET /projects?cursor=`, `POST /projects/{slug or id}/block` with `{"reason": …}`,
 * and `POST /projects/{slug or id}/unblock`. Errors are those of the interface.
 */
export function operatorRoutes(parts: RoutesParts): Handler {
  return (request, response) => {
    answer(parts, request, response).catch((error: unknown) => {
      const told = asServiceError(error);
      if (told.code === 'INTERNAL') parts.log.error({ err: error }, 'an operator’s call failed');
      if (response.headersSent) response.destroy();
      else answerError(response, told);
    });
  };
}

async function answer(
  { desk, log }: RoutesParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname === '/projects') {
    if (request.method !== 'GET') throw methodNotAllowed(['GET']);
    const cursor = searchParams.get('cursor') ?? undefined;
    return answerJson(response, 200, await desk.list(LIST_MAX, cursor));
  }
  const [, name = '', order] = ORDER.exec(pathname) ?? [];
  if (order === undefined) throw new ServiceError('NOT_FOUND');
  if (request.method !== 'POST') throw methodNotAllowed(['POST']);
  const reason = order === 'block' ? reasonIn(await readBody(request, BODY_MAX_BYTES)) : null;
  const obeyed = await desk.setStanding(decoded(name), reason);
  note(log, obeyed);
  answerJson(response, 200, obeyed);
}

function note(log: Logger, { project, blocked, changed }: Obeyed): void {
  const what = blocked ? 'sending is blocked' : 'sending is not blocked';
  const order = { project: project.id, slug: project.slug, reason: blocked?.reason, changed };
  log.info({ by: 'operator socket', ...order }, what);
}

function reasonIn(body: Uint8Array): string {
  const parsed = blockInput.safeParse(json(body));
  if (parsed.success) return parsed.data.reason;
  const fields = parsed.error.issues.map(({ path, message }) => ({
    path: path.join('.'),
    message,
  }));
  throw invalid(...fields);
}

function json(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8')) as unknown;
  } catch {
    throw invalid({ path: '', message: 'The body is not JSON.' });
  }
}

/** A name that is not well encoded belongs to no project. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return '';
  }
}
