import { SERVICE } from '../../../../shared/rules/actor.ts';
import { resolveRequest } from '../../../../shared/operations/request/resolve.ts';
import { approvalContext } from '../../context/approval-context.ts';
import type { Portion, Command } from '../../context/job.ts';

/** Records requests that expired without a decision; returns how many. */
export const expireRequests: Command<Portion, number> = {
  async run(job, { now, limit }) {
    const { requests } = job.store;
    const rows = await requests.overdue(now, limit);
    for (const row of rows) {
      const how = { status: 'expired', decision: null, comment: null, decidedBy: null } as const;
      await resolveRequest(approvalContext(job, now, SERVICE), row, how);
    }
    // The others have ended.
    return rows.length + (await requests.endDamaged(now, limit));
  },
};
