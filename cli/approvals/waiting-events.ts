import type { Event } from '../../clients/typescript/generated/types.ts';
import { pluralize } from '../../shared/lib/pluralize.ts';
import type { Client } from '../call/client.ts';
import type { Pair } from '../view/pairs.ts';
import { age } from '../view/table.ts';

/** Parked events, and how many people they wait for. */
export interface WaitingEvents {
  readonly events: number;
  readonly people: number;
  /** When the first of them was parked, ISO 8601. */
  readonly oldest_at: string;
}

/** Higher counts show as `100 or more`. */
const PAGE = 100;
const WITHIN_MS = 2000;

/** Counts parked events from the inbox and the requests. Null if there are none or the server doesn't answer. */
export async function waitingEvents(client: () => Client): Promise<WaitingEvents | null> {
  try {
    const { call } = client();
    const soon = { timeoutMs: WITHIN_MS };
    const [{ items: events }, { items: requests }] = await Promise.all([
      call('inbox_list', { status: 'waiting', limit: PAGE }, soon),
      call('request_list', { status: 'pending', limit: PAGE }, soon),
    ]);
    const parked = events.map(({ parked_at: at = '' }) => at).toSorted();
    const refs = new Set(events.flatMap(openRefs));
    const asked = requests.filter(({ request_id: id }) => refs.has(id));
    const people = new Set(asked.flatMap(({ approvers }) => approvers));
    const [oldest] = parked;
    return oldest === undefined
      ? null
      : { events: events.length, people: people.size, oldest_at: oldest };
  } catch {
    // The daemon's status is printed without these counts.
    return null;
  }
}

function openRefs({ waiting_for: conditions = [] }: Event): string[] {
  return conditions.filter(({ status }) => status === 'pending').map(({ id }) => id);
}

/** `3 events wait for 2 people, the oldest for 5 h` */
export function waitingPairs(waiting: WaitingEvents | null, now: number): Pair[] {
  if (waiting === null) return [];
  const { events, people, oldest_at: oldest } = waiting;
  const count = events < PAGE ? pluralize(events, 'event') : `${PAGE} or more events`;
  const whom = people > 0 ? ` for ${pluralize(people, 'person', 'people')}` : '';
  const since = age(oldest, now).replace(/ ago$/, '').replace(/^now$/, '0 s');
  const long = events === 1 ? `for ${since}` : `the oldest for ${since}`;
  const verb = events === 1 ? 'waits' : 'wait';
  return [['Parked', `${count} ${verb}${whom}, ${long} (svc inbox list --status waiting)`]];
}
