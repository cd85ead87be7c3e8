import { isoTime } from '../../../../shared/lib/clock.ts';
import {
  sendBlocked,
  setSendBlocked,
  unblockSending,
  type SendBlockRecord,
} from '../../../../shared/operations/email/quota.ts';
import { OPERATOR } from '../../../../shared/rules/actor.ts';
import type { Command } from '../../context/job.ts';

interface Order {
  /** The reason that callers see; null lifts the block. */
  readonly reason: string | null;
  readonly now: number;
}

interface SendBlock {
  readonly blocked: SendBlockRecord | null;
  /** False if nothing changed. */
  readonly changed: boolean;
}

/**
 * The operator blocks sending, or lifts any block, including one that the service set. A new reason replaces the old
 * one.
 */
export const setSendBlock: Command<Order, SendBlock> = {
  async run({ store, project, ledgerWriter }, { reason, now }) {
    const before = await sendBlocked(store);
    if (reason === (before?.reason ?? null)) return { blocked: before, changed: false };
    const blocked = reason === null ? null : { reason, at: before?.at ?? isoTime(now) };
    if (blocked === null) await unblockSending(store, now);
    else await setSendBlocked(store, blocked);
    const op = blocked === null ? 'send.unblocked' : 'send.blocked';
    const inputDigest = ledgerWriter.digest({ reason });
    await ledgerWriter.record(
      store,
      { actor: OPERATOR, op, subject: project.id, inputDigest },
      now,
    );
    return { blocked, changed: true };
  },
};
