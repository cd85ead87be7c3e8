import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { isoTime } from '../../lib/clock.ts';
import { parseExact } from '../../lib/json/exact-json.ts';
import type { Repositories } from '../../store/repositories.ts';

const answer = z.object({
  request_id: z.string().describe('`req_…`.'),
  status: z.string().describe('How it was decided.'),
  decision: z.string().nullable().describe('The chosen option or the answer.'),
  comment: z.string().nullable().describe('What the person added.'),
  decided_by: z.string().nullable().describe('`channel:<id>` or `policy:<rule>`.'),
  decided_at: z.string().nullable().describe('When it was decided.'),
});

/** What the claim of an event that was parked says beside it. */
export const resumedSchema = named(
  'Resumed',
  z
    .object({
      parks: z.int().describe('How often it was parked.'),
      because: z.string().describe('What woke it: an id, a time, `now`, or `requeued`.'),
      waited_for: z
        .array(
          z.object({
            id: z.string().describe('A request, a mail, another event or a time.'),
            status: z.string().describe('How it ended.'),
          }),
        )
        .describe('What it waited for.'),
      answers: z.array(answer).describe('Decisions on the requests it waited for.'),
      state: z.unknown().describe('What the agent stored when it parked the event.'),
    })
    .describe('Why a parked event is back.'),
);

/** What woke an event, the answers it waited for, and the state its agent left; null where it was never parked. */
export async function resumedOf(
  store: Repositories,
  seq: number,
): Promise<z.output<typeof resumedSchema> | null> {
  const park = await store.parks.find(seq);
  if (park?.because == null) return null;
  const { parks, because, conditions, state } = park;
  const requests = conditions.filter(({ kind }) => kind === 'request');
  const answers = await Promise.all(requests.map(({ id }) => answerOf(store, id)));
  return {
    parks,
    because,
    waited_for: conditions.map(({ id, status }) => ({ id, status })),
    answers: answers.filter((one) => one !== null),
    state: state === null ? null : parseExact(state),
  };
}

async function answerOf(store: Repositories, id: string): Promise<z.output<typeof answer> | null> {
  const row = await store.requests.find(id);
  if (!row) return null;
  const { status, decision, comment, decided_by, decided_at } = row;
  return {
    request_id: id,
    status,
    decision,
    comment,
    decided_by,
    decided_at: decided_at === null ? null : isoTime(decided_at),
  };
}
