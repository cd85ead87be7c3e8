import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import * as z from 'zod';
import { methodNotAllowed } from '../../shared/api/http.ts';
import { readBody } from '../../shared/api/read-body.ts';
import { projectInput } from '../../shared/api/sign-in.ts';
import { asServiceError, invalid, ServiceError } from '../../shared/lib/errors.ts';
import { answerError, answerJson } from '../../shared/http/answers.ts';
import type { Handler } from '../../shared/http/http-server.ts';
import { LIST_MAX } from '../../shared/lib/limits.ts';
import { parseFields } from '../../shared/kernel/operation.ts';
import { label } from '../../shared/operations/fields.ts';
import { isMailAddress, maskedAddress } from '../../shared/rules/mail/mail-address.ts';
import { SLUG } from '../../shared/rules/slug.ts';
import type { TransitionResult } from './migration-service.ts';
import type { OrderResult, OperatorService } from './operator-service.ts';
import { parsedUrl } from '../../shared/lib/urls.ts';
import { IMPORT_RECEIPT } from './import-receipt.ts';

interface RoutesDeps {
  readonly approvals: OperatorService;
  readonly log: Logger;
}

const BODY_MAX_BYTES = 16 * 1024;
const REASON_MAX_CHARS = 200;
const ADDRESS_MAX_CHARS = 500;
const INVITATIONS = /^\/invitations(\/revoke)?$/;
const ORDER = /^\/projects\/([^/]+)\/(block|unblock|hold|release|moved|delete)$/;

function isPlain(address: string): boolean {
  const url = parsedUrl(address);
  if (!url) return false;
  const { username, password } = url;
  return /^[!-~]+$/.test(address) && username === '' && password === '';
}

const blockInput = z.strictObject({
  reason: label(REASON_MAX_CHARS).refine((text) => text.trim() !== '', 'Say why.'),
});

const inviteInput = z.strictObject({
  email: z.string().refine(isMailAddress, 'Expected a plain address such as `ana@example.com`.'),
});

const movedInput = z.strictObject({
  to: z
    .url({ protocol: /^https?$/, error: 'Give the http or https address of the other gateway.' })
    .max(ADDRESS_MAX_CHARS)
    // Callers see it unchanged.
    .refine(isPlain, 'Give it in visible ASCII, without a user or a password.')
    .nullable(),
  receipt: z
    .string()
    .regex(IMPORT_RECEIPT, 'Give the receipt that the import printed.')
    .nullable()
    .default(null),
});

const releaseInput = z.strictObject({ not_moved: z.boolean().default(false) });

const adoptInput = z.strictObject({
  /** See `Databases.fingerprint`: it must have been put into the databases that this gateway uses. */
  store: z.string(),
  project: z.strictObject({
    id: z.string().regex(/^prj_[0-9a-z]{16}$/),
    slug: z.string().regex(SLUG),
    name: projectInput.shape.name,
    created_at: z.iso.datetime(),
  }),
  account: z
    .strictObject({
      id: z.string(),
      address: z.base64().transform((text) => Buffer.from(text, 'base64')),
      address_hash: z.string(),
      created_at: z.string(),
    })
    .nullable(),
});

/**
 * The operator's routes, in JSON: `GET /projects?cursor=`; `POST /projects/{slug or id}/` followed by `block` with
 * `{"reason": …}`, `unblock`, `hold`, `release` (with `{"not_moved": true}` also a moved one), `delete`, or `moved` with
 * `{"to": URL or null, "receipt": TEXT or null}`; and `POST /imports`, for a project whose database and blobs are in place, with its facts for the
 * control database. `GET /invitations`, `POST
 * /invitations` and `POST /invitations/revoke` with `{"email": …}`. Errors are those of the public API.
 */
export function operatorRoutes(deps: RoutesDeps): Handler {
  return (request, response) => {
    answer(deps, request, response).catch((error: unknown) => {
      const told = asServiceError(error);
      if (told.code === 'INTERNAL') deps.log.error({ err: error }, 'an operator’s call failed');
      if (response.headersSent) response.destroy();
      else answerError(response, told);
    });
  };
}

async function answer(
  { approvals, log }: RoutesDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname === '/projects') {
    if (request.method !== 'GET') throw methodNotAllowed(['GET']);
    const cursor = searchParams.get('cursor') ?? undefined;
    return answerJson(response, 200, await approvals.list(LIST_MAX, cursor));
  }
  if (pathname === '/imports') {
    if (request.method !== 'POST') throw methodNotAllowed(['POST']);
    const { store, ...moving } = inputIn(
      adoptInput,
      await readBody({ incoming: request }, BODY_MAX_BYTES),
    );
    const taken = await approvals.moves.adopt(moving, store);
    noteTurning(log, taken);
    return answerJson(response, 200, taken);
  }
  if (INVITATIONS.test(pathname)) {
    return answerJson(response, 200, await invite({ approvals, log }, request, pathname));
  }
  const [, name = '', order] = ORDER.exec(pathname) ?? [];
  if (order === undefined) throw new ServiceError('NOT_FOUND');
  if (request.method !== 'POST') throw methodNotAllowed(['POST']);
  const body = await readBody({ incoming: request }, BODY_MAX_BYTES);
  answerJson(response, 200, await obey({ approvals, log }, { name: decoded(name), order, body }));
}

async function invite(
  { approvals: { invitations }, log }: RoutesDeps,
  request: IncomingMessage,
  pathname: string,
): Promise<unknown> {
  const revokes = pathname.endsWith('/revoke');
  if (request.method === 'GET' && !revokes) return invitations.list();
  if (request.method !== 'POST') throw methodNotAllowed(revokes ? ['POST'] : ['GET', 'POST']);
  const { email } = inputIn(inviteInput, await readBody({ incoming: request }, BODY_MAX_BYTES));
  const person = maskedAddress(email);
  if (revokes) {
    const taken = await invitations.revoke(email);
    const { revoked } = taken;
    log.info({ by: 'operator socket', person, revoked }, 'an invitation was revoked');
    return taken;
  }
  const { status, mailed } = await invitations.invite(email);
  log.info({ by: 'operator socket', person, status, mailed }, 'a person was invited');
  return { email, status, mailed };
}

interface Order {
  readonly name: string;
  readonly order: string;
  readonly body: Uint8Array;
}

async function obey(
  { approvals, log }: RoutesDeps,
  { name, order, body }: Order,
): Promise<unknown> {
  if (order === 'block' || order === 'unblock') {
    const reason = order === 'block' ? inputIn(blockInput, body).reason : null;
    const obeyed = await approvals.setSendBlock(name, reason);
    note(log, obeyed);
    return obeyed;
  }
  if (order === 'delete') {
    const { project, changed } = await approvals.deleteProject(name);
    const of = { project: project.id, slug: project.slug };
    log.info({ by: 'operator socket', ...of }, 'a project was deleted');
    return { project, changed };
  }
  const { moves } = approvals;
  const result = await (order === 'hold'
    ? moves.hold(name)
    : order === 'release'
      ? moves.release(name, body.length > 0 && inputIn(releaseInput, body).not_moved)
      : moves.leave(name, inputIn(movedInput, body)));
  noteTurning(log, result);
  return result;
}

function noteTurning(log: Logger, { project, state, moved_to, changed }: TransitionResult): void {
  const order = { project: project.id, slug: project.slug, state, moved_to, changed };
  log.info({ by: 'operator socket', ...order }, `a project is ${state}`);
}

function note(log: Logger, { project, blocked, changed }: OrderResult): void {
  const what = blocked ? 'sending is blocked' : 'sending is not blocked';
  const order = { project: project.id, slug: project.slug, reason: blocked?.reason, changed };
  log.info({ by: 'operator socket', ...order }, what);
}

function inputIn<T>(schema: z.ZodType<T>, body: Uint8Array): T {
  return parseFields(schema, json(body));
}

function json(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8')) as unknown;
  } catch {
    throw invalid({ path: '', message: 'The body is not JSON.' });
  }
}

/** A badly encoded name belongs to no project. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return '';
  }
}
