import type { Clock } from '../../shared/lib/clock.ts';
import { IDEMPOTENCY_MS, PAYLOAD_RETENTION_MS } from '../../shared/lib/limits.ts';
import { keptSince } from '../../shared/rules/retention.ts';
import type { Repositories } from '../../shared/store/repositories.ts';
import type { Project } from './project.ts';
import type { DeletionClock } from './trusted-clock.ts';
import type { Deletion } from '../commit/job.ts';

/** Rows moved or deleted in one transaction. */
const PORTION = 100;

/** Rows with a time of their own: the command deletes those that are past it. */
interface Drop {
  /** What people wrote goes with it, as with payloads: it is not to be found in the log either. */
  readonly hasContent?: true;
  readonly nextExpiry: (store: Repositories) => Promise<number | null>;
  readonly command:
    | 'dropChannelLinks'
    | 'dropDeliveries'
    | 'dropKeys'
    | 'dropLinks'
    | 'dropPins'
    | 'dropPreviousSecrets'
    | 'dropUploads'
    | 'forgetAnswers'
    | 'forgetMails';
}

const DROPS: readonly Drop[] = [
  { nextExpiry: (store) => store.idempotency.nextExpiry(), command: 'forgetAnswers' },
  { nextExpiry: (store) => store.kv.nextExpiry(), command: 'dropKeys' },
  { nextExpiry: (store) => store.uploads.nextExpiry(), command: 'dropUploads' },
  { nextExpiry: (store) => store.fileLinks.nextExpiry(), command: 'dropLinks' },
  { nextExpiry: (store) => store.blobPins.nextExpiry(), command: 'dropPins' },
  {
    nextExpiry: (store) => store.sources.nextPreviousEnd(),
    command: 'dropPreviousSecrets',
  },
  {
    nextExpiry: (store) => store.emails.nextForget(),
    command: 'forgetMails',
    hasContent: true,
  },
  { nextExpiry: deliveryExpiry, command: 'dropDeliveries' },
  { nextExpiry: (store) => store.channels.nextTokenExpiry(), command: 'dropChannelLinks' },
];

/** The log of a delivery goes when the payload does. */
async function deliveryExpiry(store: Repositories): Promise<number | null> {
  const createdAt = await store.deliveries.oldestFinished();
  return createdAt === null ? null : Date.parse(createdAt) + PAYLOAD_RETENTION_MS + 1;
}

/** The time, and the one as of which rows may be deleted. */
type Deleting = Pick<Deletion, 'now' | 'asOf'>;

interface MaintenanceOptions {
  /** As of when rows may be deleted for their age: as of now, unless given. */
  readonly deletionClock?: DeletionClock;
  /** Ends the work after the portion at hand. */
  readonly signal?: AbortSignal;
}

/**
 * Writes down what time has done to a project: leases that ran out, backoffs that ended, payloads, kept answers, keys,
 * uploads, links and logs past their time; and has sent what is due to callbacks. Found from the rows alone, so it may run
 * at any time and again. Then asks to be called when the next thing is due, and in a day at the latest, because a write
 * that keeps its answer does not ask.
 */
export async function maintain(
  project: Project,
  clock: Clock,
  options: MaintenanceOptions = {},
): Promise<void> {
  const { deletionClock, signal } = options;
  const inPortions = async (portion: (now: number) => Promise<number>): Promise<number> => {
    let total = 0;
    for (;;) {
      if (signal?.aborted) return total;
      const count = await portion(clock.now());
      total += count;
      if (count < PORTION) return total;
    }
  };
  const deleted = (portion: (at: Deleting) => Promise<number>): Promise<number> =>
    inPortions(async (now) => {
      // Asked after the time was taken: a jump between the two must not pass.
      const asOf = deletionClock ? deletionClock.asOf(now) : now;
      return asOf === null ? 0 : portion({ now, asOf });
    });
  await inPortions((now) => releaseRoutes(project, now));
  const wokenAt = clock.now();
  await project.deliveries.wakeDue();
  project.notifications.wake();
  project.mails.wake();
  await inPortions((now) => moveOverdue(project, now));
  await inPortions((now) => expireRequests(project, now));
  let purged = await deleted((at) => purgeOld(project, at));
  for (const drop of DROPS) {
    const count = await deleted((at) => dropExpired(project, drop, at));
    if (drop.hasContent) purged += count;
  }
  // What was deleted is gone from the file, and still legible in the log.
  if (purged > 0) await project.writes.rotate();
  await askForNext(project, { wokenAt, now: clock.now() }, deletionClock);
}

/**
 * When the first thing falls due that is not done yet, in milliseconds, or is due since; null when nothing ever will. For a
 * project in which nothing is under way.
 */
export async function firstDue(store: Repositories, now: number): Promise<number | null> {
  const { work, deletions } = await dueTimes(store, 0);
  const closed = (await store.routes.closedWithPending()) === null ? null : now;
  const times = [...work, ...deletions, closed].filter((at) => at !== null);
  return times.length > 0 ? Math.min(...times) : null;
}

/** Of what is pushed and sent only what is due after a time: those who send have what was due when they were woken. */
async function dueTimes(store: Repositories, after: number) {
  const oldest = await store.events.oldestKept();
  return {
    work: [
      await store.events.nextDue(),
      await store.deliveries.nextDueAfter(after),
      await store.requests.nextExpiry(),
      await store.notices.nextDueAfter(after),
      await store.emails.nextDueAfter(after),
    ],
    deletions: [
      // Kept for the whole of its last millisecond.
      oldest && Date.parse(oldest.receivedAt) + PAYLOAD_RETENTION_MS + 1,
      ...(await Promise.all(DROPS.map(({ nextExpiry }) => nextExpiry(store)))),
    ],
  };
}

async function askForNext(
  project: Project,
  { wokenAt, now }: { readonly wokenAt: number; readonly now: number },
  deletionClock: DeletionClock | undefined,
): Promise<void> {
  // What has fallen due since then is in nobody's hands.
  const after = Math.min(wokenAt, now);
  const { work, deletions } = await project.store.read((store) => dueTimes(store, after));
  for (const at of work) {
    if (at !== null) project.atLatest(at);
  }
  const deletesFrom = now + (deletionClock?.waitMs() ?? 0);
  for (const at of deletions) {
    if (at !== null) project.atLatest(Math.max(at, deletesFrom));
  }
  project.atLatest(now + IDEMPOTENCY_MS);
}

/** Answers a whole portion while there may be more, of the same route or of another. */
async function releaseRoutes(project: Project, now: number): Promise<number> {
  const closed = await project.store.read((store) => store.routes.closedWithPending());
  if (closed === null) return 0;
  await project.writes.run('releaseRoutes', { now });
  return PORTION;
}

async function moveOverdue(project: Project, now: number): Promise<number> {
  // A read first: most calls find nothing, and a write would cost a sync.
  const found = await project.store.read((store) => store.events.overdue(now, 1));
  if (found.length === 0) return 0;
  return project.writes.run('moveOverdue', { now, limit: PORTION });
}

async function expireRequests(project: Project, now: number): Promise<number> {
  const expiry = await project.store.read((store) => store.requests.nextExpiry());
  if (expiry === null || expiry > now) return 0;
  return project.writes.run('expireRequests', { now, limit: PORTION });
}

async function purgeOld(project: Project, at: Deleting): Promise<number> {
  const oldest = await project.store.read((store) => store.events.oldestKept());
  if (!oldest || oldest.receivedAt >= keptSince(at.asOf)) return 0;
  const { count, orphans } = await project.writes.run('purgePayloads', { ...at, limit: PORTION });
  for (const digest of orphans) await project.removeBlob(digest);
  return count;
}

async function dropExpired(project: Project, drop: Drop, at: Deleting): Promise<number> {
  const expiry = await project.store.read(drop.nextExpiry);
  if (expiry === null || expiry > at.asOf) return 0;
  return project.writes.run(drop.command, { ...at, limit: PORTION });
}
