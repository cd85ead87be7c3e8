import type { ReadContext } from '../../kernel/context.ts';
import {
  NO_INGRESS_LIMITS,
  reachedLimit,
  type IngressUse,
  type ReachedLimit,
} from '../../rules/inbox/ingress-limit.ts';

/** What a source stores and sends now, and the limit that keeps it from sending more, or null. */
export async function limitedNow(
  { store, server, now }: Pick<ReadContext, 'store' | 'server' | 'now'>,
  sourceId: string,
): Promise<{ readonly use: IngressUse; readonly limited: ReachedLimit | null }> {
  const use = await store.sourceUse.of(sourceId, now);
  const limits = server.ingress ?? NO_INGRESS_LIMITS;
  return { use, limited: reachedLimit(use, use.projectBytes, { limits, now }) };
}
