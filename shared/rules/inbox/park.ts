/** What a parked event waits for, and when it goes on. Every function is pure. Times are integer milliseconds. */

/** One thing that an event waits for. */
export interface Condition {
  /** `req_…`, `evt_…`, `msg_…`, `bat_…`, or a time in ISO 8601. */
  readonly id: string;
  readonly kind: 'request' | 'event' | 'mail' | 'time';
  /** `pending` until it ends. */
  readonly status: string;
  /** When it ends at the latest. */
  readonly expires_at: number;
}

export interface Park {
  readonly conditions: readonly Condition[];
  /** Wake at the first condition that ends, whichever way. */
  readonly wakesOnAny: boolean;
}

/** How a parked event stands: it wakes because of a condition, or at a time unless something ends first. */
export type ParkVerdict =
  | { readonly wakes: true; readonly because: string }
  | { readonly wakes: false; readonly dueAt: number | null };

const DAY_MS = 86_400_000;
/** Parks beyond this many make an event dead. */
export const PARKS_MAX = 25;
/** How many conditions one park may have. */
export const CONDITIONS_MAX = 5;
/** The longest wait for anything that has no end of its own. */
export const PARK_MAX_MS = 7 * DAY_MS;
/** The farthest time that an event may wait for. */
export const PARK_TIME_MAX_MS = 30 * DAY_MS;

/** How a condition ends that lets the event go on with the others still open. */
const YES: ReadonlySet<string> = new Set(['approved', 'modified', 'answered', 'done', 'reached']);

/** Wakes when every condition has ended or one of them is not a yes; with `wakesOnAny` when one has ended. */
export function judgePark({ conditions, wakesOnAny }: Park, now: number): ParkVerdict {
  const current = conditions.map((condition) => asOf(condition, now));
  const ended = current.filter(({ status }) => status !== 'pending');
  const refused = ended.find(({ status }) => !YES.has(status));
  const last = ended.at(-1);
  const isOver = wakesOnAny ? ended.length > 0 : ended.length === current.length;
  if (refused) return { wakes: true, because: refused.id };
  if (isOver && last) return { wakes: true, because: last.id };
  return { wakes: false, dueAt: dueAt(current, wakesOnAny) };
}

/** When the event wakes at the latest. */
export function wakesAt({ conditions, wakesOnAny }: Park): number {
  const ends = conditions.map(({ expires_at }) => expires_at);
  return wakesOnAny ? Math.min(...ends) : Math.max(...ends);
}

/** The conditions as they stand at a time: a time that has come is reached, an event or a mail that took too long has expired. */
export function asOf(condition: Condition, now: number): Condition {
  // The end of a request is a commit of its own, which wakes the event.
  if (condition.kind === 'request' || condition.status !== 'pending') return condition;
  if (condition.expires_at > now) return condition;
  return { ...condition, status: condition.kind === 'time' ? 'reached' : 'expired' };
}

/** When time alone wakes the event; null where only a request does. */
function dueAt(conditions: readonly Condition[], wakesOnAny: boolean): number | null {
  const open = conditions.filter(({ status }) => status === 'pending');
  const endsOf = (...kinds: readonly Condition['kind'][]): number[] =>
    open.filter(({ kind }) => kinds.includes(kind)).map(({ expires_at }) => expires_at);
  const others = endsOf('event', 'mail');
  const times = endsOf('time');
  if (wakesOnAny) return least([...others, ...times]);
  // An event or a mail that expires is not a yes, so the earliest wakes.
  if (others.length > 0) return least(others);
  return open.length > times.length ? null : Math.max(...times);
}

function least(times: readonly number[]): number | null {
  return times.length === 0 ? null : Math.min(...times);
}
