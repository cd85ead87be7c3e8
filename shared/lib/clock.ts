/** The only source of time: integer milliseconds since 1970, UTC. */
export interface Clock {
  now(): number;
}

/** A step back up to this size comes from a time service; a larger one is a person correcting the clock. */
const SMALL_STEP_BACK_MS = 60_000;

/**
 * The machine's clock. It pauses during a small step back, so that leases and order survive, and follows a large one.
 * `wallMs` is for tests.
 */
export function systemClock(wallMs: () => number = () => Date.now()): Clock {
  let last = Number.NEGATIVE_INFINITY;
  return {
    now() {
      const wall = Math.floor(wallMs());
      if (wall < last && last - wall <= SMALL_STEP_BACK_MS) return last;
      last = wall;
      return wall;
    },
  };
}

const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** The milliseconds of a span such as `90s`, `30m`, `24h` or `7d`; null for other text. */
export function spanMs(text: string): number | null {
  const [, count, unit] = /^(\d{1,7})([smhd])$/.exec(text) ?? [];
  return count === undefined ? null : Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
}

const YEAR_0_MS = Date.UTC(2000, 0, 1) - 730_485 * 86_400_000;
const YEAR_10000_MS = Date.UTC(10_000, 0, 1);

/** `YYYY-MM-DDTHH:mm:ss.SSSZ`, always 24 characters. Throws RangeError outside the years 0 to 9999. */
export function isoTime(ms: number): string {
  const known = latest.find((one) => one.ms === ms);
  if (known) return known.text;
  if (!(ms >= YEAR_0_MS && ms < YEAR_10000_MS)) throw new RangeError(`Not a time: ${ms}`);
  const text = new Date(ms).toISOString();
  latest[turn] = { ms, text };
  turn = (turn + 1) % latest.length;
  return text;
}

/** A call formats its own time repeatedly, and a few times at fixed distances before it. */
const latest = Array.from({ length: 4 }, () => ({ ms: 0, text: '1970-01-01T00:00:00.000Z' }));
let turn = 0;

const ISO =
  /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/;
const ISO_CHARS_MAX = 35;

/**
 * The milliseconds of an ISO 8601 time with date, seconds and zone (`Z` or `±hh:mm`), or null. Cuts off fractions finer
 * than a millisecond. Refuses dates that don't exist, 24:00 and leap seconds.
 */
export function parseIso(text: string): number | null {
  if (text.length > ISO_CHARS_MAX) return null;
  const match = ISO.exec(text);
  const [, wall, fraction = '', sign, hours, minutes] = match ?? [];
  if (wall === undefined) return null;
  const local = Date.parse(`${wall}Z`);
  // V8 turns 30 February into 2 March, so the date must read back unchanged.
  if (Number.isNaN(local) || new Date(local).toISOString().slice(0, 19) !== wall) return null;
  const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
  const ms = local + Number(fraction.padEnd(3, '0').slice(0, 3));
  const utc = sign === '-' ? ms + offset : ms - offset;
  return utc >= YEAR_0_MS && utc < YEAR_10000_MS ? utc : null;
}
