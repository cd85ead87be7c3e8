import { hash } from 'node:crypto';
import type { ApprovalContext } from '../../kernel/context.ts';
import { newToken } from '../../lib/ids.ts';
import { INVITATION_MS } from '../../lib/limits.ts';
import { notifyInvited } from '../request/notify.ts';

/** Mails a new link, which replaces any earlier one; returns when it expires. */
export async function sendInvitation(context: ApprovalContext, memberId: string): Promise<number> {
  const { store, project, now, emit } = context;
  const token = newToken(project.id);
  const expiresAt = now + INVITATION_MS;
  await store.members.setToken(memberId, { hash: hash('sha256', token), expiresAt, now });
  await notifyInvited(context, memberId, token);
  emit({ kind: 'due', at: expiresAt });
  return expiresAt;
}
