import { isoTime, parseIso, spanMs } from '../../shared/lib/clock.ts';
import { usageError } from '../errors.ts';

/** A day, or a local time as terminals show it: `2026-11-23`, `2026-11-23 14:02:11`. */
const LOCAL = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}(?::\d{2})?))?$/;

/**
 * The time of a flag in UTC. A span such as `2h` counts from now: back, or forward for a time that lies in the future.
 */
export function timeValue(
  text: string,
  flag: string,
  toward: 'past' | 'future',
  now = Date.now(),
): string {
  const span = spanMs(text);
  const ms = span === null ? exactMs(text) : now + (toward === 'past' ? -span : span);
  const isIn = ms !== null && ms >= 0 && ms < Date.UTC(10_000, 0);
  if (isIn) return isoTime(ms);
  const [example, meaning] =
    toward === 'past' ? ['2h', 'two hours ago'] : ['30d', '30 days from now'];
  throw usageError(
    `${flag} must be a time or a span, not "${text}".`,
    `A time: ${flag} 2026-11-23T14:00:00Z. A span: ${flag} ${example} (${meaning}; s, m, h or d).`,
  );
}

const LONGEST_WAIT_SECONDS = 86_400;

/** The seconds of a flag that takes a span: `60`, `60s`, `5m`, `1h`. */
export function secondsValue(text: string, flag: string): number {
  const ms = spanMs(/^\d+$/.test(text) ? `${text}s` : text);
  if (ms !== null && ms <= LONGEST_WAIT_SECONDS * 1000) return ms / 1000;
  throw usageError(
    `${flag} must be a time up to 24h, not "${text}".`,
    `For example: ${flag} 60s, ${flag} 5m`,
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
