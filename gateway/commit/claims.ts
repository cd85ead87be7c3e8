import type { EmailMessageRow } from '../../shared/store/emails.ts';
import type { NoticeRow } from '../../shared/store/notices.ts';
import type { Job, Command } from './job.ts';

/**
 * What goes out is claimed first where another gateway could send it as well: its row is due again only at `until`. Whoever
 * has claimed it writes down how it fared before that; when it dies, the row falls due by itself.
 */
interface Claim {
  readonly now: number;
  readonly limit: number;
  readonly until: number;
}

/** Answers the ids of what was claimed, the longest waiting first. */
export const claimDeliveries: Command<Claim & { readonly destination: string }, string[]> = {
  async run(job, { destination, now, limit, until }) {
    const ids = await job.store.deliveries.dueIds(destination, now, limit);
    if (ids.length === 0) return [];
    await job.store.deliveries.deferAll(ids, until);
    lapseAt(job, until);
    return ids;
  },
};

/** Makes due again what was claimed, as far as nobody else has claimed it since. */
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

/** For when whoever claimed it does not come back. */
function lapseAt({ emit }: Job, until: number): void {
  emit({ kind: 'due', at: until });
}
