import { isoTime } from '../../../../shared/lib/clock.ts';
import { SERVICE } from '../../../../shared/rules/actor.ts';
import {
  NO_INGRESS_LIMITS,
  reachedLimit,
  type ReachedLimit,
} from '../../../../shared/rules/inbox/ingress-limit.ts';
import { notifyLimited } from '../../../../shared/operations/request/notify.ts';
import { approvalContext } from '../../context/approval-context.ts';
import type { Command, Job } from '../../context/job.ts';

/** A source that senders keep sending to, or the disk, is told of once in this time. */
const TELL_EVERY_MS = 86_400_000;

interface LimitedSource {
  readonly id: string;
  readonly name: string;
}

/** The limit that keeps a source from storing another event, or null. Once a day it tells the inbox and the owner. */
export async function limitOf(
  job: Job,
  source: LimitedSource,
  now: number,
): Promise<ReachedLimit | null> {
  const { store, server } = job;
  const use = await store.sourceUse.of(source.id, now);
  const limits = server.ingress ?? NO_INGRESS_LIMITS;
  const reached = reachedLimit(use, use.projectBytes, { limits, now });
  if (reached && now - use.toldAt >= TELL_EVERY_MS) {
    await store.sourceUse.noteTold(source.id, now);
    await tell(job, { source: source.name, ...reached }, now);
  }
  return reached;
}

/** The gateway's disk is nearly full, and this project stores the most: tells its inbox and its owner once a day. */
export const diskLimited: Command<
  { readonly freeBytes: number; readonly reserveBytes: number; readonly now: number },
  null
> = {
  async run(job, { freeBytes, reserveBytes, now }) {
    const { toldAt } = await job.store.sourceUse.ofProject();
    if (now - toldAt < TELL_EVERY_MS) return null;
    await job.store.sourceUse.noteTold(null, now);
    const disk = { free_bytes: freeBytes, reserve_bytes: reserveBytes };
    await tell(job, { source: null, kind: 'gateway_disk', ...disk }, now);
    return null;
  },
};

async function tell(job: Job, facts: Record<string, unknown>, now: number): Promise<void> {
  const context = approvalContext(job, now, SERVICE);
  const eventId = await context.writeEvent({
    type: 'source.limited',
    payload: { ...facts, at: isoTime(now) },
    callback: null,
  });
  await context.record('source.limited', eventId);
  const owner = await job.store.channels.owner();
  if (owner) await notifyLimited(context, owner.id, eventId);
}
