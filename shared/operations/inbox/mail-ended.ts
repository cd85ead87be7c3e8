import type { ApprovalContext } from '../../kernel/context.ts';
import type { EmailMessageRow } from '../../store/tables/mail/emails.ts';
import { wakeWaiting } from './wake.ts';

type MailStatus = EmailMessageRow['status'];

/** How a message ends that nobody will answer. */
const ENDED: ReadonlySet<MailStatus> = new Set(['failed', 'bounced', 'cancelled']);

/** `pending` while one of the messages may still be answered, else how the last of them ended. */
export function mailStatus(messages: readonly Pick<EmailMessageRow, 'status'>[]): string {
  const ended = messages.filter(({ status }) => ENDED.has(status));
  return ended.length < messages.length ? 'pending' : (ended.at(-1)?.status ?? 'pending');
}

/** Events that wait for an answer to this message, or to any of its batch, go on. */
export async function mailAnswered(context: ApprovalContext, messageId: string): Promise<void> {
  const message = await context.store.emails.find(messageId);
  if (!message) return;
  await wakeWaiting(context, message.id, 'answered');
  await wakeWaiting(context, message.batch_id, 'answered');
}

/** A message ended without an answer: events that wait for it go on, or for its batch if it was the last. */
export async function mailEnded(
  context: ApprovalContext,
  { id, batch_id }: Pick<EmailMessageRow, 'id' | 'batch_id'>,
  status: 'failed' | 'bounced',
): Promise<void> {
  await wakeWaiting(context, id, status);
  await batchEnded(context, batch_id, await context.store.emails.messagesOf(batch_id));
}

/** A person refused a batch: events that wait for it, or for one of its messages, go on. */
export async function batchCancelled(context: ApprovalContext, batchId: string): Promise<void> {
  const messages = await context.store.emails.messagesOf(batchId);
  for (const { id } of messages) await wakeWaiting(context, id, 'cancelled');
  await batchEnded(context, batchId, messages);
}

async function batchEnded(
  context: ApprovalContext,
  batchId: string,
  messages: readonly EmailMessageRow[],
): Promise<void> {
  const status = mailStatus(messages);
  if (status !== 'pending') await wakeWaiting(context, batchId, status);
}
