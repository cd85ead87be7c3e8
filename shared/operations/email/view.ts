import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { effectiveRequestStatus } from '../../rules/request-state.ts';
import type { EmailBatchRow, EmailMessageRow } from '../../store/emails.ts';
import type { Repositories } from '../../store/repositories.ts';

const messageView = named(
  'EmailMessage',
  z.object({
    message_id: z.string(),
    to: z.string(),
    status: z.enum(['queued', 'pending', 'sent', 'failed', 'bounced', 'cancelled']),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
  }),
);

/** A send call as callers see it. After the last attempt the status is `failed` if no message went out, else `sent`. */
export const batchView = z.object({
  status: z.enum(['queued', 'pending', 'cancelled', 'sent', 'failed']),
  batch_id: z.string(),
  request_id: z.string().nullable(),
  thread_id: z.string().nullable(),
  messages: z.array(messageView),
});

export type BatchView = z.infer<typeof batchView>;

/** A batch with the state of each message at `now`. */
export async function toBatchView(
  store: Repositories,
  { id, request_id, thread_id }: Pick<EmailBatchRow, 'id' | 'request_id' | 'thread_id'>,
  now: number,
): Promise<BatchView> {
  const request = request_id === null ? undefined : await store.requests.find(request_id);
  // The request may have expired before any row says so.
  const isOver = request !== undefined && effectiveRequestStatus(request, now) === 'expired';
  const messages = (await store.emails.messagesOf(id)).map((row) =>
    isOver && row.status === 'pending' ? { ...row, status: 'cancelled' as const } : row,
  );
  return {
    status: statusOf(messages),
    batch_id: id,
    request_id,
    thread_id,
    messages: messages.map(({ id: message_id, recipient, field, status, code, reason }) => ({
      message_id,
      to: recipient,
      ...(field !== 'to' && { copy: field }),
      status,
      ...troubleOf({ code, reason }),
    })),
  };
}

/** The error of a message: final, or `delayed` until the next attempt. */
function troubleOf({ code, reason }: Pick<EmailMessageRow, 'code' | 'reason'>) {
  if (code === null && reason === null) return {};
  return { error: { code: code ?? 'delayed', message: reason ?? '' } };
}

/** One decision covers all messages of a batch. */
function statusOf(messages: readonly EmailMessageRow[]): BatchView['status'] {
  const has = (status: string): boolean => messages.some((one) => one.status === status);
  if (has('pending')) return 'pending';
  if (has('queued')) return 'queued';
  if (has('cancelled')) return 'cancelled';
  return has('sent') || has('bounced') ? 'sent' : 'failed';
}
