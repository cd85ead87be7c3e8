import { toEnvelope, type Envelope } from '../../../../../shared/kernel/envelope.ts';
import { ServiceError } from '../../../../../shared/lib/errors.ts';
import { eventLinks } from '../../../../../shared/kernel/links.ts';
import { effective } from '../../../../../shared/rules/inbox/event-state.ts';
import { queueRow } from '../../../../../shared/kernel/queue-row.ts';
import { mayCall } from '../../../../../shared/lib/scopes.ts';
import type { EventRow } from '../../../../../shared/store/tables/inbox/events.ts';
import type { Repositories } from '../../../../../shared/store/repositories.ts';
import type { PageContext } from '../../page-context.ts';

/** An event as a person sees it: the envelope, plus facts that agents already know from their own calls. */
export interface SeenEvent {
  /** Has the whole payload if the visitor may claim events; otherwise the payload as in lists. */
  readonly event: Envelope;
  /** Its position in the order of arrival. */
  readonly seq: number;
  readonly sizeBytes: number;
  readonly contentType: string | null;
  /** A route delivers the event, so agents can't pull it. */
  readonly isRouted: boolean;
  /** Who holds the event's lease; null if nobody has claimed it. */
  readonly held: { readonly by: string; readonly until: number; readonly leaseId: string } | null;
  /** When it was done or dead; null before. */
  readonly finishedAt: number | null;
  /** How its source verifies senders; null if the source is gone, or for mails. */
  readonly verification: string | null;
  /** The agent's result when it finished, as JSON. */
  readonly result: string | null;
  /** Why an agent last gave the event back. */
  readonly reason: string | null;
}

/**
 * Reads one event without claiming it. Adds what `inbox_get` leaves out: its holder, and links to large content.
 * NOT_FOUND.
 */
export async function lookAtEvent(context: PageContext, id: string): Promise<SeenEvent> {
  const { access, inbox, project, now } = context;
  const seen = await access.project.store.read(async (store) => {
    const row = await store.events.findWhole(id, now);
    return (
      row && {
        row,
        remarks: await store.events.remarksOf(row.seq),
        held: await holderOf(store, row, now),
        verification: (await store.sources.findByName(row.source))?.verification ?? null,
      }
    );
  });
  if (!seen) throw new ServiceError('NOT_FOUND');
  const { row, remarks, held, verification } = seen;
  // Only visitors who could claim the event get the whole payload and links to it.
  const payload = mayCall(access.scopes, 'inbox:write')
    ? { whole: true as const, ...eventLinks(inbox, project.id, row, { holder: access.actor, now }) }
    : { whole: false as const };
  const reader = { keyId: access.actor, diskPrefixes: access.diskPrefixes };
  return {
    event: toEnvelope(row, { project: project.id, now, reader, payload }),
    seq: row.seq,
    sizeBytes: row.size_bytes,
    finishedAt: row.finished_at === null ? null : Date.parse(row.finished_at),
    verification,
    contentType: row.content_type,
    isRouted: row.routed === 1,
    held,
    result: remarks.result,
    reason: remarks.reason === null ? null : (JSON.parse(remarks.reason) as string),
  };
}

async function holderOf(
  store: Repositories,
  row: EventRow,
  now: number,
): Promise<SeenEvent['held']> {
  const queued = effective(queueRow(row), now);
  const { status, due_at: until, holder_key_id: keyId, lease_id: leaseId } = queued;
  if (status !== 'claimed' || until === null || keyId === null) return null;
  return { by: (await store.keys.find(keyId))?.name ?? keyId, until, leaseId: leaseId ?? '' };
}
