import type { Caller, WriteContext } from '../../../shared/kernel/context.ts';
import { ServiceError } from '../../../shared/lib/errors.ts';
import { moveEvent } from '../../../shared/operations/inbox/move.ts';
import { callerActor } from '../../../shared/rules/actor.ts';
import { effective, finish, release } from '../../../shared/rules/inbox/event-state.ts';
import { approvalContext } from '../context/approval-context.ts';
import type { Command } from '../context/job.ts';
import { refuseEnded } from './still-allowed.ts';

/** What a person may do with an event that no agent is to work on. */
export type HandAct = 'release' | 'finish' | 'discard';

interface ByHand {
  readonly act: HandAct;
  readonly eventIds: readonly string[];
  readonly caller: Caller;
  readonly now: number;
}

export interface MovedByHand {
  readonly event_ids: readonly string[];
  readonly skipped: readonly { readonly event_id: string; readonly reason: string }[];
}

const OPS = {
  release: 'event.released',
  finish: 'event.finished',
  discard: 'event.discarded',
} as const;

/** A person ends leases or events; each has its own ledger entry. Events that can't be moved are skipped. */
export const eventsByHand: Command<ByHand, MovedByHand> = {
  async run(job, { act, eventIds, caller, now }) {
    await refuseEnded(job, caller, now);
    const approval = approvalContext(job, now, callerActor(caller));
    const context: WriteContext = { caller, server: job.server, ...approval };
    const moved: string[] = [];
    const skipped: { event_id: string; reason: string }[] = [];
    for (const id of eventIds) {
      const reason = await move(context, id, act);
      if (reason === null) {
        moved.push(id);
        await context.record(OPS[act], id, { event_id: id });
      } else skipped.push({ event_id: id, reason });
    }
    if (moved.length > 0) job.emit({ kind: 'inbox_changed' });
    return { event_ids: moved, skipped };
  },
};

/** Null if it went, otherwise why not. */
async function move(context: WriteContext, id: string, act: HandAct): Promise<string | null> {
  const rule = act === 'release' ? release : finish;
  try {
    const { row } = await moveEvent(context, id, (queued) => rule(effective(queued, context.now)));
    if (act === 'release') {
      context.emit({ kind: 'event_ready', source: row.source, type: row.type });
    } else await context.store.events.setRemark(row.seq, 'result', null);
    return null;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const status = error.details?.['status'];
    return typeof status === 'string' ? `It is ${status}.` : error.message;
  }
}
