import * as z from 'zod';
import { toEnvelope, type Envelope } from '../../../../../shared/kernel/envelope.ts';
import { ServiceError } from '../../../../../shared/lib/errors.ts';
import { eventLinks } from '../../../../../shared/kernel/links.ts';
import { effective } from '../../../../../shared/rules/inbox/event-state.ts';
import { queueRow } from '../../../../../shared/kernel/queue-row.ts';
import { mayRun } from '../../../../../shared/kernel/operation.ts';
import { inboxClaim } from '../../../../../shared/operations/inbox/claim.ts';
import type { EventRow } from '../../../../../shared/store/tables/inbox/events.ts';
import type { Repositories } from '../../../../../shared/store/repositories.ts';
import type { PageContext } from '../../page-context.ts';
import { pageRead } from '../../page-read.ts';

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
 * One event, without claiming it; null if there is none. Adds what `inbox_get` leaves out: its holder, and links to
 * large content.
 */
export const seenEvent = pageRead(
  'inbox:read',
  { id: z.string() },
  async ({ store, project, caller, server, vault, now }, { id }): Promise<SeenEvent | null> => {
    const row = await store.events.findWhole(id, now);
    if (!row) return null;
    const { result, reason } = await store.events.remarksOf(row.seq);
    const terms = { holder: caller.keyId, now };
    // Only visitors who could claim the event get the whole payload and links to it.
    const payload = mayRun(inboxClaim, caller)
      ? { whole: true as const, ...eventLinks({ server, vault }, project.id, row, terms) }
      : { whole: false as const };
    return {
      event: toEnvelope(row, { project: project.id, now, reader: caller, payload }),
      seq: row.seq,
      sizeBytes: row.size_bytes,
      finishedAt: row.finished_at === null ? null : Date.parse(row.finished_at),
      verification: (await store.sources.findByName(row.source))?.verification ?? null,
      contentType: row.content_type,
      isRouted: row.routed === 1,
      held: await holderOf(store, row, now),
      result,
      reason: reason === null ? null : (JSON.parse(reason) as string),
    };
  },
);

/** NOT_FOUND. */
export async function lookAtEvent(context: PageContext, id: string): Promise<SeenEvent> {
  const seen = await context.read(seenEvent, { id });
  if (!seen) throw new ServiceError('NOT_FOUND');
  return seen;
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
