import type { Caller } from '../../../../shared/kernel/context.ts';
import { isInside } from '../../../../shared/kernel/disk-limit.ts';
import { callerActor } from '../../../../shared/rules/actor.ts';
import { approvalContext } from '../../context/approval-context.ts';
import type { Command } from '../../context/job.ts';
import { refuseEnded } from '../still-allowed.ts';

interface Ending {
  readonly linkId: string;
  readonly caller: Caller;
  readonly now: number;
}

/** A person ends a public link to a file. False if there is none that they may end. */
export const endFileLink: Command<Ending, boolean> = {
  async run(job, { linkId, caller, now }) {
    const { store, emit } = job;
    await refuseEnded(job, caller, now);
    const link = await store.fileLinks.find(linkId);
    if (!link || !isInside(caller, 'path', link.path)) return false;
    await store.fileLinks.revoke(linkId);
    const { record } = approvalContext(job, now, callerActor(caller));
    await record('file_link.revoked', linkId, { path: link.path });
    emit({ kind: 'disk_changed' });
    return true;
  },
};
