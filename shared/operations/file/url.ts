import { hash } from 'node:crypto';
import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import type { WriteContext } from '../../kernel/context.ts';
import { deniedBy, notFound, ServiceError } from '../../lib/errors.ts';
import { newToken } from '../../lib/ids.ts';
import {
  APPROVAL_USE_MS,
  FILE_URL_DEFAULT_SECONDS,
  FILE_URL_MAX_SECONDS,
  FILE_URL_MIN_SECONDS,
  WAIT_DEFAULT_SECONDS,
  WAIT_MAX_SECONDS,
} from '../../lib/limits.ts';
import { contentBase } from '../../kernel/links.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { canonicalJson } from '../../rules/canonical-json.ts';
import type { FileRow } from '../../store/tables/disk/files.ts';
import { effectiveRequestStatus } from '../../rules/requests/request-state.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';
import { filePath } from '../disk-fields.ts';
import { closeUsed } from '../request/close-outcome.ts';
import { judge, openRequest } from '../request/open.ts';
import { findFile } from './find.ts';
import { waitForDecision } from '../request/wait.ts';
import { pluralize } from '../../lib/pluralize.ts';

const input = z.strictObject({
  path: filePath,
  expires_in: z
    .int()
    .min(FILE_URL_MIN_SECONDS)
    .max(FILE_URL_MAX_SECONDS)
    .default(FILE_URL_DEFAULT_SECONDS)
    .describe('How long the link works, in seconds.'),
  approval: z
    .string()
    .regex(/^req_[0-9a-z]{26}$/, 'Expected a request id such as `req_01j…`.')
    .optional()
    .describe('The request_id from the earlier answer.'),
  wait_seconds: z
    .int()
    .min(0)
    .max(WAIT_MAX_SECONDS)
    .default(WAIT_DEFAULT_SECONDS)
    .describe('How long to wait for a person.'),
});

const output = z.object({
  url: z.string().optional().describe('The public link; works without a key.'),
  expires_at: z.string().optional().describe('When the link ends.'),
  link_id: z.string().optional().describe('The link, for the ledger.'),
  status: z
    .enum(['pending', 'denied', 'needs_context', 'expired'])
    .optional()
    .describe('Without a link: how the request to people stands.'),
  request_id: z.string().optional().describe('Pass it as `approval` once it is approved.'),
  comment: z.string().nullable().optional().describe('What the person added.'),
});

const KIND = 'file_url';

export const fileUrl = defineOperation({
  name: 'file_url',
  summary: 'Create a public download link.',
  description:
    'Anyone with the link can download the file without a key until the link expires. A person may have to approve it: while the status is pending, call again with the same path and expires_in, and approval set to request_id. Replacing or deleting the file ends the link.',
  scope: 'disk',
  disk: { field: 'path', kind: 'path' },
  input,
  output,
  errors: ['NOT_FOUND', 'POLICY_DENIED', 'APPROVAL_NOT_APPLICABLE', 'TOO_MANY_PENDING_REQUESTS'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/file-urls' },
  mcp: { title: 'Make a public link', openWorld: true, asks: 'again' },
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
  commit: async (context, value): Promise<Answer> => {
    const { path, expires_in: expiresIn, approval } = value;
    const { store, caller } = context;
    const file = await findFile(context, path);
    if (!file) throw notFound(`file ${JSON.stringify(path)}`);
    // A person approves the current content: if the file changes, the agent has to ask again.
    const subject = canonicalJson({ path, expires_in: expiresIn, digest: file.digest });
    if (approval === undefined) return linkOrAsk(context, subject, { file, expiresIn });
    const request = await store.requests.find(approval);
    if (!request || !isFor(request, caller.keyId, subject)) throw notApplicable();
    return redeem(context, request, { file, expiresIn });
  },
  wait: async (context, value, committed) => {
    const { status, request_id } = committed;
    if (status !== 'pending' || request_id === undefined) return committed;
    const row = await waitForDecision(context, request_id, value.wait_seconds);
    if (row.status === 'pending') return committed;
    // The waiting call makes the link; if the caller repeats the call, it finds the link made.
    if (row.status === 'approved') return context.again({ ...value, approval: request_id });
    return undecided(row);
  },
});

type Answer = z.input<typeof output>;

/** The file as it is now, and how many seconds a link to it works. */
interface LinkOptions {
  readonly file: FileRow;
  readonly expiresIn: number;
}

function isFor(request: RequestRow, keyId: string, subject: string): boolean {
  return request.kind === KIND && request.key_id === keyId && request.subject === subject;
}

/** Makes a link or asks a person, as the policy says. POLICY_DENIED names the rule. */
async function linkOrAsk(
  context: WriteContext,
  subject: string,
  wanted: LinkOptions,
): Promise<Answer> {
  const { caller, store, now } = context;
  const same = await store.requests.findSame({ keyId: caller.keyId, kind: KIND, subject }, now);
  if (same) return undecided(same);
  const judgement = await judge(context, {
    tool: KIND,
    action: null,
    amount: null,
    risk: 'medium',
    recipientDomains: null,
  });
  const { effect, rule } = judgement;
  if (effect === 'deny') throw deniedBy(rule?.id ?? null);
  if (effect === 'allow') return makeLink(context, null, wanted);
  const draft = {
    kind: KIND,
    subject,
    action: KIND,
    summary: `Share ${wanted.file.path} by a public link for ${pluralize(wanted.expiresIn, 'second')}`,
    details: asItIs(wanted.file),
    risk: 'medium',
  } as const;
  const request = await openRequest(context, draft, judgement);
  if (request.status === 'pending') return undecided(request);
  await store.requests.redeem(request.id, caller.keyId, now);
  return makeLink(context, request.id, wanted);
}

/**
 * Describes the file to the approver. The file may change before the link is made, so the text says when it was true.
 */
function asItIs({ size_bytes, content_type, digest, updated_at }: FileRow): string {
  return [
    'The file when this was asked:',
    `${pluralize(size_bytes, 'byte')}, ${content_type}`,
    `saved ${updated_at}`,
    `SHA-256 ${digest}`,
  ].join('\n');
}

/** The answer for a request that gives no link, or no link yet. */
function undecided({ id, status, comment }: RequestRow): Answer {
  return { status: status as Answer['status'], request_id: id, comment };
}

/** The answer for a request in any state; makes the link if the request is approved and unused. */
async function redeem(
  context: WriteContext,
  request: RequestRow,
  wanted: LinkOptions,
): Promise<Answer> {
  const { store, caller, now } = context;
  const { id, decided_at } = request;
  const status = effectiveRequestStatus(request, now);
  if (status !== 'approved') return undecided({ ...request, status });
  const inTime = decided_at !== null && now < decided_at + APPROVAL_USE_MS;
  if (!inTime || !(await store.requests.redeem(id, caller.keyId, now))) throw notApplicable();
  await closeUsed(context, request);
  return makeLink(context, id, wanted);
}

async function makeLink(
  { store, project, server, caller, now, newId, emit }: WriteContext,
  requestId: string | null,
  { file, expiresIn }: LinkOptions,
): Promise<Answer> {
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
  emit({ kind: 'due', at: expiresAt });
  return {
    url: `${contentBase(server)}/f/${token}`,
    expires_at: isoTime(expiresAt),
    link_id: link.id,
  };
}

function notApplicable(): ServiceError {
  return new ServiceError('APPROVAL_NOT_APPLICABLE', {
    hint: 'It must be an approved request of file_url by this key for the same path and expires_in, not used yet, and decided less than 24 hours ago. Without approval, file_url asks again.',
  });
}
