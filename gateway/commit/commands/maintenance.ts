import { isoTime } from '../../../shared/lib/clock.ts';
import { approvalContext } from '../context/approval-context.ts';
import { dropExpiredKeys, dropExpiredUploads } from '../../../shared/operations/file/quota.ts';
import { eventEnded } from '../../../shared/operations/inbox/ended.ts';
import { recordTime } from '../../../shared/operations/inbox/move.ts';
import { dropOldVersions } from '../../../shared/operations/state/versions.ts';
import { SERVICE } from '../../../shared/rules/actor.ts';
import { effective } from '../../../shared/rules/inbox/event-state.ts';
import { queueRow } from '../../../shared/kernel/queue-row.ts';
import { keptSince } from '../../../shared/rules/inbox/retention.ts';
import type { EventRow } from '../../../shared/store/tables/inbox/events.ts';
import { type Deletion, type Job, type Portion, type Command } from '../context/job.ts';

/** Records leases and backoffs that have ended; returns how many. */
export const moveOverdue: Command<Portion, number> = {
  async run(job, { now, limit }) {
    const rows = await job.store.events.overdue(now, limit);
    for (const row of rows) await moveOne(job, row, now);
    return rows.length;
  },
};

async function moveOne(job: Job, row: EventRow, now: number): Promise<void> {
  const { store, emit } = job;
  const context = approvalContext(job, now, SERVICE);
  const next = effective(queueRow(row), now);
  await store.events.setQueue(row.seq, next, next.status === 'dead' ? isoTime(now) : null);
  if (next.status === 'dead') {
    await store.events.setRemark(row.seq, 'reason', '"The lease ran out on the last attempt."');
  }
  await recordTime(context, row, next);
  if (row.status === 'failed') await context.record('event.retried', row.id);
  if (next.status === 'dead') await eventEnded(context, row, 'dead');
  if (next.status === 'pending') emit({ kind: 'event_ready', source: row.source, type: row.type });
}

interface PurgeResult {
  readonly count: number;
  readonly orphans: readonly string[];
}

/** Deletes expired payloads; `orphans` lists blobs that no row names any more. */
export const purgePayloads: Command<Deletion, PurgeResult> = {
  async run({ store, ledgerWriter }, { now, asOf, limit }) {
    const before = keptSince(asOf);
    const { count, blobs } = await store.events.purge(before, limit);
    if (count === 0) return { count, orphans: [] };
    const orphans: string[] = [];
    for (const digest of blobs) {
      if (await store.blobs.dropReference(digest)) orphans.push(digest);
    }
    const inputDigest = ledgerWriter.digest({ count, before });
    await ledgerWriter.record(
      store,
      { actor: SERVICE, op: 'payload.purged', subject: null, inputDigest },
      now,
    );
    return { count, orphans };
  },
};

/** Deletes expired answers of Idempotency-Keys; returns how many. */
export const forgetAnswers: Command<Deletion, number> = {
  run: ({ store }, { asOf, limit }) => store.idempotency.deleteExpired(asOf, limit),
};

/** Adds sums to rows of earlier releases; returns how many rows, or the limit if there may be more. */
export const addSums: Command<Pick<Portion, 'limit'>, number> = {
  run: ({ store }, { limit }) => store.missingSums.add(limit),
};

/** Deletes expired keys of the disk; returns how many. */
export const dropKeys: Command<Deletion, number> = {
  async run({ store, emit }, { asOf, limit }) {
    const count = await dropExpiredKeys({ store, now: asOf }, limit);
    if (count > 0) emit({ kind: 'disk_changed' });
    return count;
  },
};

/** Deletes versions of task states that are too old; returns how many. */
export const dropStateVersions: Command<Deletion, number> = {
  run: ({ store }, { asOf, limit }) => dropOldVersions({ store, now: asOf }, limit),
};

/** Drops expired incomplete uploads, and frees their quota and bytes; returns how many. */
export const dropUploads: Command<Deletion, number> = {
  run: (job, { now, asOf, limit }) =>
    dropExpiredUploads(approvalContext(job, now, SERVICE), limit, asOf),
};

/** Deletes expired links to files; returns how many. */
export const dropLinks: Command<Deletion, number> = {
  run: ({ store }, { asOf, limit }) => store.fileLinks.deleteExpired(asOf, limit),
};

/** Deletes expired previous secrets of sources; returns how many. */
export const dropPreviousSecrets: Command<Deletion, number> = {
  async run({ store, emit }, { asOf, limit }) {
    const count = await store.sources.dropPreviousSecrets(asOf, limit);
    if (count > 0) emit({ kind: 'sources_changed' });
    return count;
  },
};
