import type { ApprovalContext } from '../../kernel/context.ts';
import { batchCancelled } from '../inbox/mail-ended.ts';
import { returnSendQuota } from './quota.ts';

/** Applies a decision to the mail that waited for it: queues or cancels it. */
export async function settleMail(
  context: ApprovalContext,
  request: { readonly id: string; readonly status: string },
): Promise<void> {
  const { store, now, emit, record } = context;
  const batch = await store.emails.findByRequest(request.id);
  if (!batch) return;
  if (request.status === 'approved') {
    await store.emails.decide(batch.id, 'queued', now);
    emit({ kind: 'mails_due' });
    return;
  }
  const cancelled = await store.emails.decide(batch.id, 'cancelled', null);
  await returnSendQuota(context, batch.created_at, cancelled);
  await record('email.cancelled', batch.id);
  await batchCancelled(context, batch.id);
}
