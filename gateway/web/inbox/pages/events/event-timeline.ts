import * as z from 'zod';
import { ledgerQuery } from '../../../../../shared/operations/ledger/query.ts';
import type { LedgerEntry } from '../../../../../shared/rules/ledger-chain.ts';
import type {
  AttemptRow,
  DeliveryRow,
} from '../../../../../shared/store/tables/inbox/deliveries.ts';
import { doneBy, entriesOf, namesOf } from '../ledger/ledger-queries.ts';
import type { PageContext } from '../../page-context.ts';
import { pageRead } from '../../page-read.ts';
import { hostOf } from '../routes/route-queries.ts';

/** How many entries of each kind are read. */
const ENTRIES_MAX = 50;
const DELIVERIES_MAX = 20;
const ATTEMPTS_MAX = 12;

/** A step in the life of an event. */
export type Step =
  | {
      readonly kind: 'entry';
      readonly at: number;
      readonly entry: LedgerEntry;
      /** Who did it, such as `claude on codex, key laptop`. */
      readonly by: string;
    }
  | {
      readonly kind: 'attempt';
      readonly at: number;
      readonly attempt: AttemptRow;
      readonly delivery: DeliveryRow;
      readonly host: string;
    };

export interface Timeline {
  /** Oldest first. */
  readonly steps: readonly Step[];
  /** There are earlier entries in the ledger. */
  readonly isCut: boolean;
}

/** What happened to an event, as far as the visitor may see it: ledger entries, and deliveries with their attempts. */
export async function timelineOf(
  context: PageContext,
  event: { readonly id: string; readonly seq: number },
): Promise<Timeline> {
  const { steps, isCut } = await entrySteps(context, event.id);
  const all = [...steps, ...(await context.read(attemptSteps, { seq: event.seq }))];
  return { steps: all.toSorted((one, other) => one.at - other.at), isCut };
}

async function entrySteps(context: PageContext, id: string): Promise<Timeline> {
  if (!context.may(ledgerQuery)) return { steps: [], isCut: false };
  const { items, next_cursor: next } = await entriesOf(context, {
    subject: id,
    limit: ENTRIES_MAX,
  });
  const names = await namesOf(context);
  const steps = items.map((entry) => ({
    kind: 'entry' as const,
    at: Date.parse(entry.at),
    entry,
    by: doneBy(entry, names),
  }));
  return { steps: steps.toReversed(), isCut: next !== null };
}

const attemptSteps = pageRead(
  'inbox:read',
  { seq: z.int() },
  async ({ store: { deliveries } }, { seq }) => {
    const steps: Step[] = [];
    for (const delivery of await deliveries.ofEvent(seq, DELIVERIES_MAX)) {
      for (const attempt of await deliveries.attempts(delivery.id, ATTEMPTS_MAX)) {
        const at = Date.parse(attempt.at);
        steps.push({ kind: 'attempt', at, attempt, delivery, host: hostOf(delivery.url) });
      }
    }
    return steps;
  },
);
