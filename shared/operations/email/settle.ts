import type { ApprovalContext } from '../../kernel/context.ts';
import type { EmailBatchRow } from '../../store/tables/mail/emails.ts';
import { batchCancelled } from '../inbox/mail-ended.ts';
import { returnSendQuota } from './quota.ts';

/** Applies a decision to the mail that waited for it: queues or cancels it. */
export async function settleMail(
  context: ApprovalContext,
  request: { readonly id: string; readonly status: string },
): Promise<void> {
  const { store, now, emit } = context;
  const batch = await store.emails.findByRequest(request.id);
  if (!batch) return;
  if (request.status !== 'approved') return cancelMail(context, batch);
  await store.emails.queue(batch.id, now);
  emit({ kind: 'mails_due' });
}

/** Cancels what hasn't gone out of a mail. */
export async function cancelMail(
  context: ApprovalContext,
  { id, created_at }: Pick<EmailBatchRow, 'id' | 'created_at'>,
): Promise<void> {
  await returnSendQuota(context, created_at, await context.store.emails.cancel(id));
  await context.record('email.cancelled', id);
  await batchCancelled(context, id);
}
