import type { Caller } from '../../shared/kernel/context.ts';
import { isInside } from '../../shared/kernel/disk-limit.ts';
import type { Command } from './job.ts';
import { refuseEnded } from './still-allowed.ts';

interface Ending {
  readonly linkId: string;
  readonly caller: Caller;
  readonly now: number;
}

/** A person ends a public link to a file. False if there is none that they may end. */
export const endFileLink: Command<Ending, boolean> = {
  async run(job, { linkId, caller, now }) {
    const { store, ledgerWriter, emit } = job;
    await refuseEnded(job, caller, now);
    const link = await store.fileLinks.find(linkId);
    if (!link || !isInside(caller, 'path', link.path)) return false;
    await store.fileLinks.revoke(linkId);
    const { agent, keyId, requestId } = caller;
    await store.ledger.append(
      {
        op: 'file_link.revoked',
        agent: agent.label,
        platform: agent.platform,
        key_id: keyId,
        subject: linkId,
        request_id: requestId,
        outcome: 'ok',
        code: null,
        input_digest: ledgerWriter.digest({ path: link.path }),
        result_digest: null,
      },
      now,
    );
    emit({ kind: 'disk_changed' });
    return true;
  },
};
