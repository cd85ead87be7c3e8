import { isoTime, parseIso } from '../../shared/lib/clock.ts';
import { usageError } from '../errors.ts';

/** A day, or a local time as terminals show it: `2026-11-23`, `2026-11-23 14:02:11`. */
const LOCAL = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}(?::\d{2})?))?$/;

const SPAN = /^(?:\d{1,7}[wdhms])+$/;
const UNITS_MS = { w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000 } as const;

/** The milliseconds of a span as people type it, `90s`, `1w` or `1d12h`; null for other text. */
export function typedSpanMs(text: string): number | null {
  if (!SPAN.test(text)) return null;
  const parts = [...text.matchAll(/(\d+)([wdhms])/g)];
  const units = parts.map(([, , unit = '']) => unit).join('');
  // Each unit once, and the larger one first: `1h30m`.
  if (!/^w?d?h?m?s?$/.test(units)) return null;
  return parts.reduce(
    (sum, [, count, unit]) => sum + Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS],
    0,
  );
}

/** A span as the service takes it, with one unit: `7d` for `1w`. Leaves text that isn't a span to the service. */
export function oneUnit(text: string): string {
  const ms = typedSpanMs(text);
  if (ms === null || /^\d+[dhms]$/.test(text)) return text;
  const [unit, size] = BY_SIZE.find(([, one]) => ms % one === 0) ?? ['s', UNITS_MS.s];
  return `${ms / size}${unit}`;
}

const BY_SIZE = Object.entries(UNITS_MS).filter(([unit]) => unit !== 'w');

/**
 * The time of a flag in UTC. A span such as `2h` counts from now: back, or forward for a time that lies in the future.
 */
export function timeValue(
  text: string,
  flag: string,
  toward: 'past' | 'future',
  now = Date.now(),
): string {
  const span = typedSpanMs(text);
  const ms = span === null ? exactMs(text) : now + (toward === 'past' ? -span : span);
  const isIn = ms !== null && ms >= 0 && ms < Date.UTC(10_000, 0);
  if (isIn) return isoTime(ms);
  const [example, meaning] =
    toward === 'past' ? ['2h', 'two hours ago'] : ['30d', '30 days from now'];
  throw usageError(
    `${flag} must be a time or a span, not "${text}".`,
    `A time: ${flag} 2026-11-23T14:00:00Z. A span: ${flag} ${example} (${meaning}; s, m, h, d or w, or several: 1d12h).`,
  );
}

const LONGEST_WAIT_SECONDS = 86_400;

/** The seconds of a flag that takes a span: `60`, `60s`, `5m`, `1h`. */
export function secondsValue(text: string, flag: string): number {
  const ms = typedSpanMs(/^\d+$/.test(text) ? `${text}s` : text);
  if (ms !== null && ms <= LONGEST_WAIT_SECONDS * 1000) return ms / 1000;
  throw usageError(
    `${flag} must be a time up to 24h, not "${text}".`,
    `For example: ${flag} 60s, ${flag} 5m, ${flag} 1h30m`,
  );
}

function exactMs(text: string): number | null {
  const [, date, clock = '00:00'] = LOCAL.exec(text) ?? [];
  if (date === undefined) return parseIso(text);
  // A day that doesn't exist would become the first of the next month.
  const exists = parseIso(`${date}T00:00:00Z`) !== null;
  const ms = exists ? Date.parse(`${date}T${clock}`) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}
