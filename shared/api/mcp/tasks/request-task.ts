import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Operation } from '../../../kernel/operation.ts';
import { isoTime } from '../../../lib/clock.ts';
import { asServiceError, unavailable, type ErrorCode } from '../../../lib/errors.ts';
import { stringifyExact } from '../../../lib/json/exact-json.ts';
import { withdrawnBecause } from '../../../rules/requests/request-state.ts';
import { askApproval } from '../../../operations/ask/approval.ts';
import { askHuman } from '../../../operations/ask/human.ts';
import { policySet } from '../../../operations/policy/set.ts';
import { endHint, type RequestRecord } from '../../../operations/request/record.ts';
import { requestStatus } from '../../../operations/request/status.ts';
import { requestWithdraw } from '../../../operations/request/withdraw.ts';
import { isOfOldCopy } from '../../answer-marks.ts';
import { resultWith } from '../call.ts';
import type { CallSite, Task, TaskAccess } from '../tables.ts';
import { paceOf } from './task-pace.ts';

/** The operation whose call a request answers. The other kinds of requests have no tasks of their own. */
const ASKING: Readonly<Record<string, Operation>> = {
  approval: askApproval,
  question: askHuman,
  policy: policySet,
};

/** Nobody may learn from an error that there is such a request. */
export const UNKNOWN_CODES: ReadonlySet<ErrorCode> = new Set([
  'NOT_FOUND',
  'SCOPE_MISSING',
  'VALIDATION_FAILED',
]);
const CANCELLED = 'the agent cancelled its task.';

/** A question as a task, which has the id of its request; null if the connection could not have asked it. */
export async function readRequestTask(
  id: string,
  { site, tools }: Pick<TaskAccess, 'site' | 'tools'>,
): Promise<Task | null> {
  const found = await lookFor(id, site);
  if (found === 'not here yet') return newTask(id);
  const asking = found && ASKING[found.kind];
  return asking && tools.find(asking.name) ? taskOf(found) : null;
}

/** A request; null if there's none that the caller may read. UNAVAILABLE if a copy may not have it yet. */
export async function requestOf(id: string, site: CallSite): Promise<RequestRecord | null> {
  const found = await lookFor(id, site);
  if (found === 'not here yet') throw unavailable(1);
  return found;
}

async function lookFor(
  id: string,
  { executor, caller, signal }: CallSite,
): Promise<RequestRecord | 'not here yet' | null> {
  try {
    const { value } = await executor.execute(requestStatus, { request_id: id }, caller, signal);
    return value as RequestRecord;
  } catch (error) {
    const known = asServiceError(error);
    if (known.code === 'NOT_FOUND' && isOfOldCopy(known)) return 'not here yet';
    if (UNKNOWN_CODES.has(known.code)) return null;
    throw error;
  }
}

/** The task of a question that this copy doesn't have yet, and the gateway may have: the client asks again. */
function newTask(taskId: string): Task {
  const createdAt = isoTime(Date.now());
  const pollIntervalMs = paceOf(0);
  const task = { taskId, createdAt, lastUpdatedAt: createdAt, ttlMs: null };
  return { ...task, status: 'working', pollIntervalMs };
}

export async function withdrawRequest(
  id: string,
  { executor, caller, signal }: CallSite,
): Promise<void> {
  const input = { request_id: id, reason: CANCELLED };
  await executor.execute(requestWithdraw, input, caller, signal);
}

/** Whether its own client has ended the task of this request. */
export function isCancelled({ hint }: RequestRecord): boolean {
  return withdrawnBecause(hint) === CANCELLED;
}

function taskOf(record: RequestRecord): Task {
  const { request_id: taskId, status, created_at: createdAt, decided_at: decidedAt } = record;
  const askedAt = Date.parse(createdAt);
  const ttlMs = Math.max(1, Date.parse(record.expires_at) - askedAt);
  const task = { taskId, createdAt, lastUpdatedAt: decidedAt ?? createdAt, ttlMs };
  if (status === 'pending') {
    const ageMs = Date.now() - askedAt;
    return { ...task, status: 'working', pollIntervalMs: paceOf(ageMs) };
  }
  if (isCancelled(record)) return { ...task, status: 'cancelled' };
  return { ...task, status: 'completed', result: resultOf(record) };
}

/** The answer of the call that asked, had it waited. It's the same at each reading, whichever copy gives it. */
function resultOf(record: RequestRecord): CallToolResult {
  const { request_id, status, decision, comment, decided_by, state_ref, expires_at } = record;
  const value = {
    request_id,
    status,
    decision,
    comment,
    hint: endHint(record) ?? nextStep(record),
    decided_by,
    state_ref,
    expires_at,
    poll_after_seconds: null,
    // A proposal with warnings is no task.
    ...(record.kind === 'policy' && { warnings: [] }),
  };
  return resultWith(ASKING[record.kind] ?? askApproval, { value });
}

/** What an agent does that may have forgotten its question. */
function nextStep({ kind, status, summary, decision, bind }: RequestRecord): string {
  const asked = JSON.stringify(summary);
  if (kind === 'question') return `This is the answer to ${asked}: go on with it.`;
  if (kind === 'policy' && status === 'approved') return 'The new policy is in force.';
  if (status === 'denied') return `${asked} was denied: don't do it.`;
  const choice = status === 'modified' ? ` with the option ${JSON.stringify(decision)}` : '';
  const values = bind === null ? '' : `, with exactly these values: ${stringifyExact(bind)}`;
  return `${asked} was approved${choice}: do it now${values}.`;
}
