import { hash } from 'node:crypto';
import * as z from 'zod';
import { isoTime } from '../../clock.ts';
import type { WriteContext } from '../../context.ts';
import { ServiceError } from '../../errors.ts';
import { newToken } from '../../ids.ts';
import {
  FILE_URL_DEFAULT_SECONDS,
  FILE_URL_MAX_SECONDS,
  FILE_URL_MIN_SECONDS,
  FILE_URL_REDEEM_MS,
  PENDING_REQUESTS_MAX,
  REQUEST_DEFAULT_MS,
  WAIT_DEFAULT_SECONDS,
  WAIT_MAX_SECONDS,
} from '../../limits.ts';
import { defineOperation } from '../../operation.ts';
import { canonicalJson } from '../../rules/canonical-json.ts';
import type { FileRow } from '../../store/files.ts';
import type { RequestRow } from '../../store/requests.ts';
import { filePath } from '../disk-fields.ts';

const input = z.strictObject({
  path: filePath,
  expires_in: z
    .int()
    .min(FILE_URL_MIN_SECONDS)
    .max(FILE_URL_MAX_SECONDS)
    .default(FILE_URL_DEFAULT_SECONDS)
    .describe('Seconds that the link holds.'),
  approval: z
    .string()
    .regex(/^req_[0-9a-z]{26}$/, 'Expected a request id such as `req_01j…`.')
    .optional()
    .describe('The request_id of the answer before.'),
  wait_seconds: z
    .int()
    .min(0)
    .max(WAIT_MAX_SECONDS)
    .default(WAIT_DEFAULT_SECONDS)
    .describe('How long to wait for a person.'),
});

const output = z.object({
  url: z.string().optional(),
  expires_at: z.string().optional(),
  link_id: z.string().optional(),
  status: z.enum(['pending', 'denied', 'expired']).optional(),
  request_id: z.string().optional(),
  comment: z.string().nullable().optional(),
});

const KIND = 'file_url';

export const fileUrl = defineOperation({
  name: 'file_url',
  summary: 'Make a public download link, when it is allowed.',
  description:
    'Whoever has the link can read the file without a key until it expires. A person may have to allow it: while the status is pending, call again with the same path and expires_in and with approval set to request_id. Replacing or deleting the file ends the link.',
  scope: 'disk',
  input,
  output,
  errors: ['NOT_FOUND', 'APPROVAL_NOT_APPLICABLE', 'TOO_MANY_PENDING_REQUESTS'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/file-urls' },
  mcp: { title: 'Make a public link', openWorld: true },
  cli: {
    usage: 'file url <path>',
    examples: [
      'file url reports/may.pdf --expires-in 86400',
      'file url reports/may.pdf --expires-in 86400 --approval req_01j9z3k4m5n6p7q8r9s0t1v2w3',
    ],
  },
  subject: (value) => value.path,
  example: { path: 'example/hello.txt', expires_in: 3600, wait_seconds: 0 },
}).write({
  commit: async (context, value) => {
    const { path, expires_in, approval } = value;
    const file = await context.store.files.find(path);
    if (!file) throw new ServiceError('NOT_FOUND');
    const subject = canonicalJson({ path, expires_in });
    if (approval === undefined) return pendingAnswer(await askOnce(context, subject));
    const request = await context.store.requests.find(approval);
    if (!request || !isFor(request, context.caller.keyId, subject)) throw notApplicable();
    return answerOf(context, request, { file, expiresIn: expires_in });
  },
});

function isFor(request: RequestRow, keyId: string, subject: string): boolean {
  return request.kind === KIND && request.key_id === keyId && request.subject === subject;
}

/** The pending request of this key for the same, or a new one. TOO_MANY_PENDING_REQUESTS. */
async function askOnce(context: WriteContext, subject: string): Promise<RequestRow> {
  const { caller, store, now } = context;
  const same = await store.requests.findSame({ keyId: caller.keyId, kind: KIND, subject }, now);
  if (same) return same;
  if ((await store.requests.countPending(now)) >= PENDING_REQUESTS_MAX) {
    throw new ServiceError('TOO_MANY_PENDING_REQUESTS');
  }
  const request: RequestRow = {
    id: context.newId('req'),
    kind: KIND,
    status: 'pending',
    key_id: caller.keyId,
    subject,
    comment: null,
    created_at: isoTime(now),
    expires_at: now + REQUEST_DEFAULT_MS,
    decided_at: null,
    redeemed_at: null,
  };
  await store.requests.insert(request);
  return request;
}

function pendingAnswer({ id, comment }: RequestRow): z.input<typeof output> {
  return { status: 'pending', request_id: id, comment };
}

/** What a decided, or still undecided, request means for this call. */
async function answerOf(
  context: WriteContext,
  request: RequestRow,
  wanted: { readonly file: FileRow; readonly expiresIn: number },
): Promise<z.input<typeof output>> {
  const { store, now } = context;
  const { id, status, comment, decided_at } = request;
  if (status === 'pending') {
    if (request.expires_at > now) return pendingAnswer(request);
    return { status: 'expired', request_id: id, comment };
  }
  if (status === 'denied' || status === 'expired') return { status, request_id: id, comment };
  const inTime = decided_at !== null && now < decided_at + FILE_URL_REDEEM_MS;
  if (status !== 'approved' || !inTime || !(await store.requests.redeem(id, now))) {
    throw notApplicable();
  }
  return makeLink(context, id, wanted);
}

async function makeLink(
  { store, project, server, caller, now, newId, dueAt }: WriteContext,
  requestId: string,
  { file, expiresIn }: { readonly file: FileRow; readonly expiresIn: number },
): Promise<z.input<typeof output>> {
  const token = newToken(project.id);
  const expiresAt = now + expiresIn * 1000;
  const link = {
    id: newId('lnk'),
    path: file.path,
    version: file.version,
    key_id: caller.keyId,
    request_id: requestId,
    expires_at: expiresAt,
  };
  await store.fileLinks.insert(link, hash('sha256', token));
  dueAt(expiresAt);
  return {
    url: `${server.urls.api}/f/${token}`,
    expires_at: isoTime(expiresAt),
    link_id: link.id,
  };
}

function notApplicable(): ServiceError {
  return new ServiceError('APPROVAL_NOT_APPLICABLE');
}
