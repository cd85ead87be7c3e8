import { parseExact } from '../../lib/json/exact-json.ts';
import type { Repositories } from '../../store/repositories.ts';
import type { EventRow } from '../../store/tables/inbox/events.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';
import type { VoteRow } from '../../store/tables/people/votes.ts';
import { texts } from './record.ts';

/** What the ledger records of a decision about an event: what the person was shown, and what they said. */
export async function decidedFacts(
  store: Repositories,
  row: RequestRow,
  event: EventRow | undefined,
) {
  const { status, decision, comment, hint, decided_by } = row;
  return {
    request_id: row.id,
    event: event ? eventFacts(event) : null,
    shown: {
      kind: row.kind,
      action: row.action,
      summary: row.summary,
      details: row.details,
      risk: row.risk,
      amount: row.amount,
      options: texts(row.options),
      bind: valuesOf(row.bind),
      ...(row.approvals > 1 && { approvals: row.approvals }),
    },
    ended: {
      status,
      decision,
      comment,
      hint,
      decided_by,
      by: await byOf(store, channelIn(decided_by)),
    },
  };
}

/** What the ledger records of one person's approval, where several must approve. */
export async function voteFacts(
  store: Repositories,
  row: RequestRow,
  {
    event,
    vote,
    given,
  }: {
    readonly event: EventRow | undefined;
    readonly vote: VoteRow;
    readonly given: number;
  },
) {
  const { id: request_id, action, approvals: needed } = row;
  const { channel_id: channelId, comment } = vote;
  const by = await byOf(store, channelId);
  return {
    request_id,
    event: event ? eventFacts(event) : null,
    action,
    vote: { channel: `channel:${channelId}`, by, comment, given, needed },
  };
}

/** What the ledger records of an approval's use: which values were done, by which key, and what came of it. */
export function spentFacts(
  row: RequestRow,
  event: EventRow | undefined,
  used: { readonly by: string; readonly keyId: string; readonly result: string | undefined },
) {
  const { status, decision, decided_by } = row;
  return {
    request_id: row.id,
    event: event ? eventFacts(event) : null,
    action: row.action,
    ended: { status, decision, decided_by },
    done: {
      bind: valuesOf(row.bind),
      result: valuesOf(used.result ?? null),
      spent_by: used.by,
      key_id: used.keyId,
    },
  };
}

/** What proves where an event came from. */
export function eventFacts(row: EventRow) {
  const { id, source, channel, type, received_at } = row;
  return { id, source, channel, type, received_at, verified: row.verified === 1 };
}

/** The label of the channel that decided, with its masked address: nobody's address is in the ledger. */
async function byOf(store: Repositories, channelId: string | null): Promise<string | null> {
  const channel = channelId === null ? undefined : await store.channels.findEver(channelId);
  if (!channel) return null;
  const { label, masked, kind } = channel;
  return `${label} (${masked ?? kind})`;
}

function channelIn(decidedBy: string | null): string | null {
  return decidedBy?.startsWith('channel:') ? decidedBy.slice('channel:'.length) : null;
}

function valuesOf(json: string | null): unknown {
  return json === null ? null : parseExact(json);
}
