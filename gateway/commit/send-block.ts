import { isoTime } from '../../shared/lib/clock.ts';
import {
  sendBlocked,
  setSendBlocked,
  unblockSending,
  type Blocked,
} from '../../shared/operations/email/quota.ts';
import type { Command } from './job.ts';

interface Order {
  /** Why nothing may be sent, as callers are told; null lets the project send again. */
  readonly reason: string | null;
  readonly now: number;
}

interface SendBlock {
  readonly blocked: Blocked | null;
  /** False where it was so before. */
  readonly changed: boolean;
}

/** The operator blocks sending, or lifts a block, whoever set it. Another reason replaces the one that stands. */
export const setSendBlock: Command<Order, SendBlock> = {
  async run({ store, project, ledgerWriter }, { reason, now }) {
    const before = await sendBlocked(store);
    if (reason === (before?.reason ?? null)) return { blocked: before, changed: false };
    const blocked = reason === null ? null : { reason, at: before?.at ?? isoTime(now) };
    if (blocked === null) await unblockSending(store, now);
    else await setSendBlocked(store, blocked);
    const op = blocked === null ? 'send.unblocked' : 'send.blocked';
    const inputDigest = ledgerWriter.digest({ reason });
    await ledgerWriter.record(store, { op, subject: project.id, inputDigest }, now);
    return { blocked, changed: true };
  },
};
