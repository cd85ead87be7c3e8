import { toEnvelope, type Envelope } from '../../../shared/kernel/envelope.ts';
import { ServiceError } from '../../../shared/lib/errors.ts';
import { eventLinks } from '../../../shared/kernel/links.ts';
import { effective } from '../../../shared/rules/event-state.ts';
import { queueRow } from '../../../shared/kernel/queue-row.ts';
import { mayCall } from '../../../shared/lib/scopes.ts';
import type { EventRow } from '../../../shared/store/events.ts';
import type { Repositories } from '../../../shared/store/repositories.ts';
import type { PageContext } from './page-context.ts';

/** An event as a person sees it: the envelope, and what callers are not told because they did it themselves. */
export interface SeenEvent {
  /** Its payload is whole where the visitor may claim events; else as lists have it. */
  readonly event: Envelope;
  readonly sizeBytes: number;
  readonly contentType: string | null;
  /** A route delivers it: it cannot be pulled. */
  readonly isRouted: boolean;
  /** Who holds its lease; null unless it is claimed. */
  readonly held: { readonly by: string; readonly until: number } | null;
  /** What was said when it was done. JSON. */
  readonly result: string | null;
  /** Why it was given back the last time. */
  readonly reason: string | null;
}

/** One event, read without a claim, with what `inbox_get` leaves out: who holds it, and links to what is large. NOT_FOUND. */
export async function lookAtEvent(context: PageContext, id: string): Promise<SeenEvent> {
  const { access, inbox, project, now } = context;
  const seen = await access.project.store.read(async (store) => {
    const row = await store.events.findWhole(id, now);
    return (
      row && {
        row,
        remarks: await store.events.remarksOf(row.seq),
        held: await holderOf(store, row, now),
      }
    );
  });
  if (!seen) throw new ServiceError('NOT_FOUND');
  const { row, remarks, held } = seen;
  // The whole of a payload, and links to it, are for whoever could claim the event.
  const payload = mayCall(access.scopes, 'inbox:write')
    ? { whole: true as const, ...eventLinks(inbox, project.id, row, now) }
    : { whole: false as const };
  return {
    event: toEnvelope(row, { project: project.id, now, payload }),
    sizeBytes: row.size_bytes,
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
  const { status, due_at: until, holder_key_id: keyId } = effective(queueRow(row), now);
  if (status !== 'claimed' || until === null || keyId === null) return null;
  return { by: (await store.keys.find(keyId))?.name ?? keyId, until };
}
