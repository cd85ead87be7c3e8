import type { Clock } from '../../shared/lib/clock.ts';
import { IDEMPOTENCY_MS, PAYLOAD_RETENTION_MS, STATE_VERSION_MS } from '../../shared/lib/limits.ts';
import { keptSince } from '../../shared/rules/inbox/retention.ts';
import type { Repositories } from '../../shared/store/repositories.ts';
import type { Project } from './project.ts';
import type { DeletionClock } from './trusted-clock.ts';
import type { Deletion } from '../commit/context/job.ts';

/** Rows moved or deleted in one transaction. */
const PORTION = 100;

/** Kinds of rows with an expiry of their own, and the command that deletes those past it. */
interface Drop {
  /** People wrote these rows, so no trace may stay in the log either, as with payloads. */
  readonly hasContent?: true;
  readonly nextExpiry: (store: Repositories) => Promise<number | null>;
  readonly command:
    | 'dropChannelLinks'
    | 'dropDeliveries'
    | 'dropInvitations'
    | 'dropKeys'
    | 'dropLinks'
    | 'dropPins'
    | 'dropPreviousSecrets'
    | 'dropStateVersions'
    | 'dropUploads'
    | 'endKeys'
    | 'forgetAnswers'
    | 'forgetMails';
}

const DROPS: readonly Drop[] = [
  { nextExpiry: (store) => store.idempotency.nextExpiry(), command: 'forgetAnswers' },
  { nextExpiry: (store) => store.kv.nextExpiry(), command: 'dropKeys' },
  { nextExpiry: versionExpiry, command: 'dropStateVersions' },
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
  { nextExpiry: (store) => store.members.nextExpiry(), command: 'dropInvitations' },
  { nextExpiry: (store) => store.keys.nextEnd(), command: 'endKeys' },
];

async function versionExpiry(store: Repositories): Promise<number | null> {
  const replacedAt = await store.stateVersions.firstReplaced();
  return replacedAt === null ? null : replacedAt + STATE_VERSION_MS;
}

/** A delivery's log is deleted together with its payload. */
async function deliveryExpiry(store: Repositories): Promise<number | null> {
  const createdAt = await store.deliveries.oldestFinished();
  return createdAt === null ? null : Date.parse(createdAt) + PAYLOAD_RETENTION_MS + 1;
}

/** The current time, and the time up to which rows may be deleted. */
type Deleting = Pick<Deletion, 'now' | 'asOf'>;

interface MaintenanceOptions {
  /** The time up to which rows may be deleted for their age (default: now). */
  readonly deletionClock?: DeletionClock;
  /** Ends the work after the current portion. */
  readonly signal?: AbortSignal;
}

/**
 * Records what time has done to a project: leases that ran out, backoffs that ended, and payloads, stored answers, keys,
 * uploads, links and logs that expired; and starts callbacks that are due. It finds all of this from the rows, so it may
 * run at any time and repeatedly. Then it asks to be called when the next thing is due, at the latest in a day, because
 * a write that stores its answer doesn't ask.
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
      // Ask the clock after reading the time, so that it notices a jump between the two.
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
  await countActivity(project, clock, signal);
  await inPortions(() => addSums(project));
  // Deleted rows are gone from the file but still readable in the log.
  if (purged > 0) await project.writes.rotate();
  await askForNext(project, { wokenAt, now: clock.now() }, deletionClock);
}

/** Rows of each kind counted in one transaction. */
const COUNT_PORTION = 2000;
/** Few rows wait for each other this long, because counting costs a commit. The overview adds them itself. */
const COUNT_PAUSE_MS = 3_600_000;
const FEW_ROWS = 1000;

/** Counts what happened, for the overview, in portions. */
async function countActivity(
  project: Project,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<void> {
  const isWorthIt = await project.store.read(async ({ activity }) => {
    const position = await activity.position(clock.now());
    const rows = await activity.behind(position, FEW_ROWS + 1);
    return rows > FEW_ROWS || (rows > 0 && clock.now() - position.at > COUNT_PAUSE_MS);
  });
  if (!isWorthIt) return;
  const countPortion = (): Promise<boolean> =>
    project.writes.run('countActivity', { now: clock.now(), limit: COUNT_PORTION });
  for (;;) {
    if (signal?.aborted || (await countPortion())) return;
  }
}

/**
 * When the next unfinished thing falls due, in milliseconds; it may be in the past. Null if nothing ever will. For a
 * project with no work under way.
 */
export async function firstDue(store: Repositories, now: number): Promise<number | null> {
  const { work, deletions } = await dueTimes(store, 0);
  const closed = (await store.routes.closedWithPending()) === null ? null : now;
  const times = [...work, ...deletions, closed].filter((at) => at !== null);
  return times.length > 0 ? Math.min(...times) : null;
}

/** Counts pushes and sends only if they are due after a time: the senders already took the others when they were woken. */
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
      // It's still valid during its last millisecond.
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
  // Nobody has yet taken what has fallen due since then.
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

/** Returns a full portion as long as there may be more, of the same route or of another. */
async function releaseRoutes(project: Project, now: number): Promise<number> {
  const closed = await project.store.read((store) => store.routes.closedWithPending());
  if (closed === null) return 0;
  await project.writes.run('releaseRoutes', { now });
  return PORTION;
}

async function moveOverdue(project: Project, now: number): Promise<number> {
  // Read first: most calls find nothing, and a write would cost a sync.
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
  const since = keptSince(at.asOf);
  if (!oldest || oldest.receivedAt >= since) return 0;
  // The index first: it can be made again.
  const end = await project.store.read((store) => store.eventHistory.firstSince(since));
  await project.searches.purge(end - 1);
  const { count, orphans } = await project.writes.run('purgePayloads', { ...at, limit: PORTION });
  for (const digest of orphans) await project.removeBlob(digest);
  return count;
}

/** Rows of earlier releases have no sums. */
async function addSums(project: Project): Promise<number> {
  const isNeeded = await project.store.read((store) => store.missingSums.exist());
  return isNeeded ? project.writes.run('addSums', { limit: PORTION }) : 0;
}

async function dropExpired(project: Project, drop: Drop, at: Deleting): Promise<number> {
  const expiry = await project.store.read(drop.nextExpiry);
  if (expiry === null || expiry > at.asOf) return 0;
  return project.writes.run(drop.command, { ...at, limit: PORTION });
}
