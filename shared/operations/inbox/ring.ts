import type { WriteContext } from '../../kernel/context.ts';
import { queueRow } from '../../kernel/queue-row.ts';
import { effective } from '../../rules/inbox/event-state.ts';
import type { Condition, Park } from '../../rules/inbox/park.ts';

type Looking = Pick<WriteContext, 'store' | 'now'>;

/** A search gives up beyond this many events: every wait ends within a week. */
const EVENTS_MAX = 1000;

/**
 * The condition that would make an event wait for itself: for an event that waits for it, perhaps through others. Null
 * if none does, or if another condition wakes an event of the ring by itself.
 */
export async function ringIn(
  context: Looking,
  eventId: string,
  park: Park,
): Promise<Condition | null> {
  // Most parked events have no other event waiting for them.
  if ((await context.store.parks.waitingFor(eventId)).length === 0) return null;
  return new RingSearch(context, eventId).closes(park);
}

class RingSearch {
  readonly #context: Looking;
  readonly #eventId: string;
  /** Whether an event can't continue before the searched one; false while the search is running. */
  readonly #known = new Map<string, boolean>();

  constructor(context: Looking, eventId: string) {
    this.#context = context;
    this.#eventId = eventId;
  }

  /** The condition that holds a park up, if it can't wake before the searched event ends. */
  async closes({ conditions, wakesOnAny }: Park): Promise<Condition | null> {
    const held: Condition[] = [];
    for (const condition of conditions) {
      const isHeld = await this.#isHeld(condition);
      if (isHeld) held.push(condition);
      // A condition that isn't held up wakes an event that needs any one; a held one holds up an event that needs all.
      if (isHeld !== wakesOnAny) break;
    }
    const isClosed = held.length === (wakesOnAny ? conditions.length : 1);
    return isClosed ? (held[0] ?? null) : null;
  }

  async #isHeld({ kind, id, status }: Condition): Promise<boolean> {
    if (kind !== 'event' || status !== 'pending') return false;
    if (id === this.#eventId) return true;
    const known = this.#known.get(id);
    if (known !== undefined || this.#known.size >= EVENTS_MAX) return known ?? false;
    this.#known.set(id, false);
    const { store, now } = this.#context;
    const row = await store.events.find(id);
    const isWaiting = row !== undefined && effective(queueRow(row), now).status === 'waiting';
    const park = isWaiting ? await store.parks.find(row.seq) : null;
    const isHeld = park !== null && (await this.closes(park)) !== null;
    this.#known.set(id, isHeld);
    return isHeld;
  }
}
