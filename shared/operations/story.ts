import * as z from 'zod';
import { notFound } from '../lib/errors.ts';
import { LEDGER_LIST_MAX } from '../lib/limits.ts';
import { parseExact } from '../lib/json/exact-json.ts';
import type { ReadContext } from '../kernel/context.ts';
import { defineOperation } from '../kernel/operation.ts';
import { queueRow } from '../kernel/queue-row.ts';
import { EVENT_STATUSES } from '../kernel/envelope.ts';
import { effective } from '../rules/inbox/event-state.ts';
import { MakerNames } from './access/maker.ts';
import { eventId } from './fields.ts';
import { ledgerEntry } from './ledger/query.ts';
import { decidedFacts, eventFacts } from './request/facts.ts';

/** The newest requests of an event that its story tells of. */
const REQUESTS_MAX = 50;

export const story = defineOperation({
  name: 'story',
  summary: "Show an event's story: who sent it, worked on it, decided and acted.",
  description:
    'Returns the ledger entries about the event and its requests, oldest first, with what people were shown and decided. Each opening has the value and salt behind the input_digest of one entry, so anyone with the ledger can check it.',
  scope: 'ledger:read',
  input: z.strictObject({ event_id: eventId }),
  output: z.object({
    event: z
      .object({
        id: z.string().describe('`evt_…`.'),
        source: z.string().describe('Name of the source.'),
        channel: z.string().describe('`webhook` or `email` for received events.'),
        type: z.string().describe('What happened.'),
        received_at: z.string().describe('When it arrived.'),
        verified: z.boolean().describe('Whether the signature was checked.'),
        status: z.enum(EVENT_STATUSES).describe('Where it is in the queue.'),
      })
      .describe('Where it began.'),
    requests: z
      .array(z.record(z.string(), z.unknown()))
      .describe('What people were asked about it.'),
    entries: z.array(ledgerEntry).describe('Ledger entries about it, oldest first.'),
    openings: z
      .array(
        z.object({
          seq: z.int().describe('The entry.'),
          salt: z.string().describe('What was hashed before the value.'),
          value: z.unknown().describe('What was hashed.'),
        }),
      )
      .describe('Proof that values belong to digests in the entries.'),
    names: z
      .record(z.string(), z.string())
      .describe('What the keys and people of the entries are called, by id.'),
  }),
  errors: ['NOT_FOUND'],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/inbox/events/{event_id}/story' },
  mcp: false,
  cli: { usage: 'story <event_id>', examples: ['story evt_01j9z3k4m5n6p7q8r9s0t1v2w3'] },
  example: { event_id: 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3' },
}).read(async (context, { event_id }) => {
  const { store, now } = context;
  const row = await store.events.find(event_id);
  if (!row) throw notFound(`event ${event_id}`);
  const asked = await store.requests.ofEvent(event_id, REQUESTS_MAX);
  const subjects = [event_id, ...asked.map(({ id }) => id)];
  const limit = LEDGER_LIST_MAX;
  const found = await Promise.all(subjects.map((subject) => store.ledger.page({ subject, limit })));
  const openings = await store.ledgerOpenings.ofEvent(event_id, limit);
  const entries = found.flat().toSorted((a, b) => a.seq - b.seq);
  return {
    event: { ...eventFacts(row), status: effective(queueRow(row), now).status },
    requests: await Promise.all(asked.map((request) => decidedFacts(store, request, row))),
    entries,
    openings: openings.map(({ seq, salt, value }) => ({ seq, salt, value: parseExact(value) })),
    names: await namesOf(context, entries),
  };
});

/** What keys and people are called, by id. */
async function namesOf(
  context: ReadContext,
  entries: readonly { readonly actor: string | null; readonly key_id: string | null }[],
): Promise<Record<string, string>> {
  const makers = new MakerNames(context);
  const names: Record<string, string> = {};
  for (const { actor, key_id: key } of entries) {
    const id = actor ?? key ?? '';
    if (id.startsWith('chn_')) names[id] ??= (await context.store.channels.find(id))?.label ?? id;
    else if (/^(?:acc|key|mbr)_/.test(id)) names[id] ??= await makers.of(id);
  }
  return names;
}
