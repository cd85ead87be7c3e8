import { isoTime, type Clock, type Steadiness } from '../shared/clock.ts';
import { IDEMPOTENCY_MS, PAYLOAD_RETENTION_MS } from '../shared/limits.ts';
import { effective } from '../shared/rules/event-state.ts';
import type { WriteTx } from '../shared/store/driver.ts';
import type { EventRow } from '../shared/store/events.ts';
import type { Repositories } from '../shared/store/project-store.ts';
import { queueRow } from '../shared/rules/queue-row.ts';
import type { Project } from './project.ts';

/** Rows moved, or payloads or answers deleted, in one transaction. */
const PORTION = 100;

interface UpkeepOptions {
  /** Nothing is deleted before the clock is steady. */
  readonly steady?: Steadiness;
  /** Ends the work after the portion at hand. */
  readonly signal?: AbortSignal;
}

/**
 * Writes down what time has done to a project: leases that ran out, backoffs that ended, payloads and kept answers past
 * their time. Found from the rows alone, so it may run at any time and again. Then asks to be called when the next thing
 * is due, and in a day at the latest, because a write that keeps its answer does not ask.
 */
export async function keepUp(
  project: Project,
  clock: Clock,
  options: UpkeepOptions = {},
): Promise<void> {
  const { steady, signal } = options;
  const inPortions = async (portion: (now: number) => Promise<number>): Promise<number> => {
    let total = 0;
    for (;;) {
      if (signal?.aborted) return total;
      const count = await portion(clock.now());
      total += count;
      if (count < PORTION) return total;
    }
  };
  // Asked after the time was taken: a jump between the two must not pass.
  const isHeld = (): boolean => steady !== undefined && steady.waitMs() > 0;
  await inPortions((now) => moveOverdue(project, now));
  const purged = await inPortions(async (now) => (isHeld() ? 0 : purgeOld(project, now)));
  // What was deleted is gone from the file, and still legible in the log.
  if (purged > 0) await project.store.rotate();
  await inPortions(async (now) => (isHeld() ? 0 : forgetAnswers(project, now)));
  await askForNext(project, clock, steady);
}

async function askForNext(
  project: Project,
  clock: Clock,
  steady: Steadiness | undefined,
): Promise<void> {
  const { due, oldest, expiry } = await project.store.read(async (store) => ({
    due: await store.events.nextDue(),
    oldest: await store.events.oldestKept(),
    expiry: await store.idempotency.nextExpiry(),
  }));
  if (due !== null) project.atLatest(due);
  const now = clock.now();
  const deletesFrom = now + (steady?.waitMs() ?? 0);
  // Kept for the whole of its last millisecond.
  const oldestEnds = oldest && Date.parse(oldest.receivedAt) + PAYLOAD_RETENTION_MS + 1;
  for (const end of [oldestEnds, expiry]) {
    if (end !== null) project.atLatest(Math.max(end, deletesFrom));
  }
  project.atLatest(now + IDEMPOTENCY_MS);
}

async function moveOverdue(project: Project, now: number): Promise<number> {
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

async function purgeOld(project: Project, now: number): Promise<number> {
  const before = isoTime(now - PAYLOAD_RETENTION_MS);
  const oldest = await project.store.read((store) => store.events.oldestKept());
  if (!oldest || oldest.receivedAt >= before) return 0;
  const { count, orphans } = await project.store.write(async (store) => {
    const purged = await store.events.purge(before, PORTION);
    if (purged.count === 0) return { count: 0, orphans: [] };
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

/** Answers kept for an Idempotency-Key whose day is over. */
async function forgetAnswers(project: Project, now: number): Promise<number> {
  const expiry = await project.store.read((store) => store.idempotency.nextExpiry());
  if (expiry === null || expiry > now) return 0;
  return project.store.write((store) => store.idempotency.deleteExpired(now, PORTION));
}

function removeBlob(project: Project, digest: string): Promise<void> {
  return project.blobs.remove(digest, (one) =>
    project.store.read((store) => store.blobs.isReferenced(one)),
  );
}
