import type { Condition, Park } from '../../../rules/inbox/park.ts';
import { contentSum, isSound, RowDamage } from '../../sums/content-sum.ts';
import type { Row, Tx } from '../../engine/driver.ts';

interface ParkColumns extends Row {
  parks: number;
  parked_at: string;
  wakes_on_any: number;
  conditions: string;
  state: string | null;
  because: string | null;
  /** Null in rows of earlier releases. */
  sum: number | null;
}

/** The newest park of an event. */
export interface ParkRow extends Park {
  /** How often the event has been parked. */
  readonly parks: number;
  readonly parkedAt: string;
  /** JSON that the agent left for its next run. */
  readonly state: string | null;
  /** What woke the event; null while it waits. */
  readonly because: string | null;
}

interface EventTies {
  readonly parked: boolean;
  readonly asked: boolean;
  /** Other events wait for it. */
  readonly awaited: boolean;
}

const COLUMNS = 'p.parks, p.parked_at, p.wakes_on_any, p.conditions, p.state, p.because, p.sum';

/** What a row's sum covers. */
interface ParkFields {
  readonly parks: number;
  readonly parked_at: string;
  readonly wakes_on_any: number;
  readonly conditions: string;
  readonly state: string | null;
  readonly because: string | null;
}

export function parkFields(row: ParkFields) {
  const { parks, parked_at, wakes_on_any, conditions, state, because } = row;
  return [parks, parked_at, wakes_on_any, conditions, state, because];
}

function shown(row: ParkColumns, of: string): ParkRow {
  if (!isSound(row.sum, parkFields(row))) throw new RowDamage(`the state of event ${of}`);
  return {
    parks: row.parks,
    parkedAt: row.parked_at,
    wakesOnAny: row.wakes_on_any === 1,
    conditions: JSON.parse(row.conditions) as Condition[],
    state: row.state,
    because: row.because,
  };
}

/** Events that wait, or waited, for an answer. */
export class ParkRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  async find(seq: number): Promise<ParkRow | null> {
    const row = await this.#tx.get<ParkColumns>(`SELECT ${COLUMNS} FROM park p WHERE p.seq = ?`, [
      seq,
    ]);
    return row ? shown(row, `number ${seq}`) : null;
  }

  /** The newest park of this event, or null. */
  async newestOf(eventId: string): Promise<ParkRow | null> {
    const row = await this.#tx.get<ParkColumns>(
      `SELECT ${COLUMNS} FROM event e JOIN park p ON p.seq = e.seq WHERE e.id = ?`,
      [eventId],
    );
    return row ? shown(row, eventId) : null;
  }

  async save(seq: number, park: ParkRow): Promise<void> {
    const row = {
      parks: park.parks,
      parked_at: park.parkedAt,
      wakes_on_any: park.wakesOnAny ? 1 : 0,
      conditions: JSON.stringify(park.conditions),
      state: park.state,
      because: park.because,
    };
    await this.#tx.put(
      `INSERT INTO park (seq, parks, parked_at, wakes_on_any, conditions, state, because, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET parks = excluded.parks, parked_at = excluded.parked_at,
         wakes_on_any = excluded.wakes_on_any, conditions = excluded.conditions, state = excluded.state,
         because = excluded.because, sum = excluded.sum`,
      [
        seq,
        row.parks,
        row.parked_at,
        row.wakes_on_any,
        row.conditions,
        row.state,
        row.because,
        contentSum(parkFields(row)),
      ],
    );
    await this.#tx.put('DELETE FROM park_ref WHERE seq = ?', [seq]);
    if (park.because !== null) return;
    for (const { id, kind, status } of park.conditions) {
      if (kind === 'time' || status !== 'pending') continue;
      await this.#tx.put('INSERT OR IGNORE INTO park_ref (ref, seq) VALUES (?, ?)', [id, seq]);
    }
  }

  /** The places of the events that wait for this id. */
  async waitingFor(ref: string): Promise<number[]> {
    const rows = await this.#tx.all<{ seq: number }>(
      'SELECT seq FROM park_ref WHERE ref = ? ORDER BY seq',
      [ref],
    );
    return rows.map(({ seq }) => seq);
  }

  /** What hangs on an event, in one query: most events were never parked, asked about or waited for. */
  async tiesOf({ seq, id }: { readonly seq: number; readonly id: string }): Promise<EventTies> {
    const row = await this.#tx.get<{ parked: number; asked: number; awaited: number }>(
      `SELECT EXISTS (SELECT 1 FROM park WHERE seq = ?1) AS parked,
         EXISTS (SELECT 1 FROM request WHERE event_id = ?2) AS asked,
         EXISTS (SELECT 1 FROM park_ref WHERE ref = ?2) AS awaited`,
      [seq, id],
    );
    return { parked: row?.parked === 1, asked: row?.asked === 1, awaited: row?.awaited === 1 };
  }

  /** The id of the event at this place if other events wait for it, else null. */
  async awaitedAt(seq: number): Promise<string | null> {
    const row = await this.#tx.get<{ id: string }>(
      'SELECT e.id FROM event e WHERE e.seq = ? AND EXISTS (SELECT 1 FROM park_ref WHERE ref = e.id)',
      [seq],
    );
    return row?.id ?? null;
  }

  async remove(seq: number): Promise<void> {
    await this.#tx.put('DELETE FROM park_ref WHERE seq = ?', [seq]);
    await this.#tx.put('DELETE FROM park WHERE seq = ?', [seq]);
  }
}
