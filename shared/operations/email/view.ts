import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { effectiveRequestStatus } from '../../rules/requests/request-state.ts';
import type { EmailBatchRow, EmailMessageRow } from '../../store/tables/mail/emails.ts';
import type { Repositories } from '../../store/repositories.ts';

const messageView = named(
  'EmailMessage',
  z
    .object({
      message_id: z.string().describe('`msg_…`; replies name it in `reply_to`.'),
      to: z.string().describe('The recipient.'),
      copy: z.enum(['cc', 'bcc']).optional().describe('Missing for an address in `to`.'),
      status: z
        .enum(['queued', 'pending', 'sent', 'failed', 'bounced', 'cancelled'])
        .describe('How the delivery stands.'),
      error: z
        .object({
          code: z.string().describe('`delayed` until the next attempt; otherwise why it failed.'),
          message: z.string().describe('The reason in words.'),
        })
        .optional()
        .describe('What went wrong, for good or until the next attempt.'),
    })
    .describe('A mail to one recipient.'),
);

/** A send call as callers see it. After the last attempt the status is `failed` if no message went out, else `sent`. */
export const batchView = z.object({
  status: z
    .enum(['queued', 'pending', 'cancelled', 'sent', 'failed'])
    .describe('`sent` once the last attempt is over, if any message went out.'),
  batch_id: z.string().describe('`bat_…`: this call.'),
  request_id: z.string().nullable().describe('The request to people, if the policy asked them.'),
  thread_id: z.string().nullable().describe('The conversation it belongs to.'),
  messages: z.array(messageView).describe('One per recipient.'),
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

/** A batch may be cancelled when some of its messages have gone out. */
function statusOf(messages: readonly EmailMessageRow[]): BatchView['status'] {
  const has = (status: string): boolean => messages.some((one) => one.status === status);
  if (has('pending')) return 'pending';
  if (has('queued')) return 'queued';
  if (has('sent') || has('bounced')) return 'sent';
  return has('cancelled') ? 'cancelled' : 'failed';
}
