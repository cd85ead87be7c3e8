import type { EmailMessageRow } from '../../../../shared/store/tables/mail/emails.ts';
import type { NoticeRow } from '../../../../shared/store/tables/people/notices.ts';
import type { Job, Command } from '../../context/job.ts';

/**
 * A claim defers a row to `until`, so that two gateways don't send the same row. The gateway records the result
 * before `until`; if it dies, the row falls due again.
 */
interface Claim {
  readonly now: number;
  readonly limit: number;
  readonly until: number;
}

/** Claims due deliveries to one destination; returns their ids, the longest waiting first. */
export const claimDeliveries: Command<Claim & { readonly destination: string }, string[]> = {
  async run(job, { destination, now, limit, until }) {
    const ids = await job.store.deliveries.dueIds(destination, now, limit);
    if (ids.length === 0) return [];
    await job.store.deliveries.deferAll(ids, until);
    lapseAt(job, until);
    return ids;
  },
};

/** Makes claimed deliveries due at once, except those that another gateway has claimed since. */
export const giveBackDeliveries: Command<
  { readonly ids: readonly string[]; readonly claimedUntil: number; readonly now: number },
  null
> = {
  async run({ store }, { ids, claimedUntil, now }) {
    await store.deliveries.giveBack(ids, { claimedUntil, dueAt: now });
    return null;
  },
};

export const claimNotices: Command<Claim, NoticeRow[]> = {
  async run(job, { now, limit, until }) {
    const rows = await job.store.notices.due(now, limit);
    if (rows.length === 0) return [];
    const ids = rows.map(({ id }) => id);
    await job.store.notices.deferAll(ids, until);
    lapseAt(job, until);
    return rows.map((row) => ({ ...row, due_at: until }));
  },
};

export const claimMails: Command<Claim, EmailMessageRow[]> = {
  async run(job, { now, limit, until }) {
    const rows = await job.store.emails.due(now, limit);
    if (rows.length === 0) return [];
    const ids = rows.map(({ id }) => id);
    await job.store.emails.deferAll(ids, until);
    lapseAt(job, until);
    return rows.map((row) => ({ ...row, due_at: until }));
  },
};

/** Wakes the project when the claim lapses, in case its gateway has died. */
function lapseAt({ emit }: Job, until: number): void {
  emit({ kind: 'due', at: until });
}
