import { isoTime, type Clock } from '../shared/clock.ts';
import { PAYLOAD_RETENTION_MS } from '../shared/limits.ts';
import { effective } from '../shared/rules/event-state.ts';
import type { WriteTx } from '../shared/store/driver.ts';
import type { EventRow } from '../shared/store/events.ts';
import type { Repositories } from '../shared/store/project-store.ts';
import { queueRow } from '../shared/rules/queue-row.ts';
import type { Project } from './project.ts';

/** Rows moved or payloads purged in one transaction. */
const PORTION = 100;

/**
 * Writes down what time has done to a project: leases that ran out, backoffs that ended, payloads past retention. Found
 * from the rows alone, so it may run at any time and again. Then asks to be called when the next thing is due.
 */
export async function keepUp(project: Project, clock: Clock): Promise<void> {
  while ((await moveOverdue(project, clock)) === PORTION);
  while ((await purgeOld(project, clock)) === PORTION);
  const { due, oldest } = await project.store.read(async (store) => ({
    due: await store.events.nextDue(),
    oldest: await store.events.oldestKept(),
  }));
  if (due !== null) project.atLatest(due);
  if (oldest) project.atLatest(Date.parse(oldest.receivedAt) + PAYLOAD_RETENTION_MS);
}

async function moveOverdue(project: Project, clock: Clock): Promise<number> {
  const now = clock.now();
  // A read first: most calls find nothing, and a write would cost a sync.
  const found = await project.store.read((store) => store.events.overdue(now, 1));
  if (found.length === 0) return 0;
  return project.store.write(async (store, tx) => {
    const rows = await store.events.overdue(now, PORTION);
    for (const row of rows) await moveOne(project, { store, tx }, row, now);
    return rows.length;
  });
}

async function moveOne(
  project: Project,
  { store, tx }: { store: Repositories; tx: WriteTx },
  row: EventRow,
  now: number,
): Promise<void> {
  const next = effective(queueRow(row), now);
  await store.events.setQueue(row.seq, next, next.status === 'dead' ? isoTime(now) : null);
  if (next.status === 'dead') {
    await store.events.setRemark(row.seq, 'reason', '"The lease ran out on the last attempt."');
  }
  const op = row.status === 'claimed' ? 'lease.expired' : 'event.retried';
  await project.record(store, { op, subject: row.id }, now);
  if (next.status === 'pending') project.announce(tx, { source: row.source, type: row.type });
}

async function purgeOld(project: Project, clock: Clock): Promise<number> {
  const now = clock.now();
  const before = isoTime(now - PAYLOAD_RETENTION_MS);
  const oldest = await project.store.read((store) => store.events.oldestKept());
  if (!oldest || oldest.receivedAt >= before) return 0;
  const { count, orphans } = await project.store.write(async (store) => {
    const purged = await store.events.purge(before, PORTION);
    const dropped: string[] = [];
    for (const digest of purged.blobs) {
      if (await store.blobs.dropReference(digest)) dropped.push(digest);
    }
    const inputDigest = project.digest({ count: purged.count, before });
    await project.record(store, { op: 'payload.purged', subject: null, inputDigest }, now);
    return { count: purged.count, orphans: dropped };
  });
  for (const digest of orphans) await removeBlob(project, digest);
  return count;
}

function removeBlob(project: Project, digest: string): Promise<void> {
  return project.blobs.remove(digest, (one) =>
    project.store.read((store) => store.blobs.isReferenced(one)),
  );
}
