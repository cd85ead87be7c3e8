import { isoTime } from '../../../shared/lib/clock.ts';
import type { Caller } from '../../../shared/kernel/context.ts';
import { notFound, ServiceError } from '../../../shared/lib/errors.ts';
import type { Job } from '../context/job.ts';

/**
 * Refuses a caller who lost, after the call began, what they began it with: sending a body can take half a minute, and
 * nobody may do anything after their removal. Tells whether the secret was replaced, and works for a while yet. KEY_REVOKED, UNAUTHENTICATED, NOT_FOUND, SCOPE_MISSING.
 */
export async function refuseEnded(
  job: Job,
  caller: Caller,
  now: number,
): Promise<{ readonly isPreviousSecret: boolean }> {
  const { keyId, secretHash, member } = caller;
  if (member) {
    await refuseEndedMember(job, member);
    return { isPreviousSecret: false };
  }
  const { keys } = job.store;
  const { key, isPrevious } =
    secretHash === undefined
      ? { key: await keys.find(keyId), isPrevious: false }
      : await keys.findBySecret(secretHash, isoTime(now));
  const isOver = !key || (key.expires_at !== null && key.expires_at <= isoTime(now));
  if (isOver) throw new ServiceError('UNAUTHENTICATED');
  if (key.revoked_at !== null) throw new ServiceError('KEY_REVOKED');
  const lost = caller.scopes.find((scope) => !key.scopes.includes(scope));
  if (lost) throw new ServiceError('SCOPE_MISSING', { details: { scope: lost } });
  return { isPreviousSecret: isPrevious };
}

async function refuseEndedMember(
  { store }: Job,
  { id, role }: NonNullable<Caller['member']>,
): Promise<void> {
  const member = await store.members.find(id);
  if (member?.status !== 'active') throw notFound(`member ${id}`);
  if (member.role === role) return;
  throw new ServiceError('SCOPE_MISSING', {
    details: { role: member.role },
    hint: 'Your role has just changed. Load the page again.',
  });
}

/** Operations with this scope or name give somebody access or end it. */
function isAboutAccess({
  name,
  scope,
}: {
  readonly name: string;
  readonly scope: string;
}): boolean {
  return scope === 'admin' || name.startsWith('key_');
}

/**
 * Refuses a secret that was replaced: whoever has kept it must not make a key, a route or another secret with it. A repeat of
 * the call that replaced it gets its answer before this. UNAUTHENTICATED.
 */
export function refusePreviousSecret(
  operation: { readonly name: string; readonly scope: string },
  { isPreviousSecret }: { readonly isPreviousSecret: boolean },
): void {
  if (!isPreviousSecret || !isAboutAccess(operation)) return;
  throw new ServiceError('UNAUTHENTICATED', {
    hint: 'This secret was replaced. It works a little longer, but not for this: use the new one.',
  });
}
