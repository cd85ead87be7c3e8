import type { CallToolResult } from '@modelcontextprotocol/server';
import { asServiceError } from '../../../lib/errors.ts';
import { REQUEST_DEFAULT_MS } from '../../../lib/limits.ts';
import { emailSend } from '../../../operations/email/send.ts';
import { emailStatus } from '../../../operations/email/status.ts';
import type { BatchView } from '../../../operations/email/view.ts';
import { resultWith } from '../call.ts';
import { isCancelled, requestOf, UNKNOWN_CODES } from './request-task.ts';
import type { CallSite, Task, TaskAccess } from '../tables.ts';
import type { OpenCall } from './task-id.ts';
import { paceOf } from './task-pace.ts';

type Batch = BatchView & { readonly created_at: string };

/** A mail that waits for a person, as a task; null if the connection could not have sent it. */
export async function readMailTask(
  id: string,
  { input }: OpenCall,
  { site, tools }: Pick<TaskAccess, 'site' | 'tools'>,
): Promise<Task | null> {
  if (!tools.find(emailSend.name)) return null;
  const batch = await batchOf(input['batch_id'], site);
  if (!batch || batch.request_id === null) return null;
  const { created_at: createdAt } = batch;
  const task = { taskId: id, createdAt, lastUpdatedAt: createdAt, ttlMs: REQUEST_DEFAULT_MS };
  if (batch.status === 'pending') {
    const pollIntervalMs = paceOf(Date.now() - Date.parse(createdAt));
    return { ...task, status: 'working', pollIntervalMs };
  }
  // A key that may send needn't be one that may read requests.
  const request = await requestOf(batch.request_id, site);
  if (request && isCancelled(request)) return { ...task, status: 'cancelled' };
  const isSent = request ? request.status === 'approved' : batch.status !== 'cancelled';
  return { ...task, status: 'completed', result: resultOf(batch, isSent) };
}

async function batchOf(
  batchId: unknown,
  { executor, caller, signal }: CallSite,
): Promise<Batch | null> {
  try {
    const { value } = await executor.execute(emailStatus, { batch_id: batchId }, caller, signal);
    return value as Batch;
  } catch (error) {
    if (UNKNOWN_CODES.has(asServiceError(error).code)) return null;
    throw error;
  }
}

/** The answer of `email_send` at the moment of the decision: what becomes of the messages later isn't part of it. */
function resultOf(batch: Batch, isSent: boolean): CallToolResult {
  const { batch_id, request_id, thread_id } = batch;
  const status = isSent ? 'queued' : 'cancelled';
  const messages = batch.messages.map(({ error: _later, ...one }) => ({ ...one, status }));
  return resultWith(emailSend, { value: { batch_id, request_id, thread_id, messages, status } });
}
