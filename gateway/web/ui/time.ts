const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** A duration in at most two units, rounded down: `45 s`, `4 min`, `3 h 10 min`, `2 d 4 h`. */
export function lengthOfTime(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < MINUTE) return `${Math.floor(whole / SECOND)} s`;
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)} min`;
  if (whole < DAY) return twoUnits(whole, [HOUR, 'h'], [MINUTE, 'min']);
  return twoUnits(whole, [DAY, 'd'], [HOUR, 'h']);
}

function twoUnits(
  ms: number,
  [large, largeName]: readonly [number, string],
  [small, smallName]: readonly [number, string],
): string {
  const rest = Math.floor((ms % large) / small);
  const first = `${Math.floor(ms / large)} ${largeName}`;
  return rest === 0 ? first : `${first} ${rest} ${smallName}`;
}

/** Such as `14:30 UTC`, or `3 Jan, 14:30 UTC` if that isn't today. */
export function minuteOfDay(at: number, now: number): string {
  const [date = '', time = ''] = new Date(at).toISOString().split('T');
  const clock = `${time.slice(0, 5)} UTC`;
  if (new Date(now).toISOString().startsWith(date)) return clock;
  const [, month = '', day = ''] = date.split('-');
  return `${Number(day)} ${(MONTHS[Number(month) - 1] ?? '').slice(0, 3)}, ${clock}`;
}

/**
 * Such as `14:30:05 UTC`, with the date unless it is today. In UTC, because a page without scripts doesn't know the
 * reader's time zone.
 */
export function timeOfDay(at: number, now: number): string {
  const [date = '', time = ''] = new Date(at).toISOString().split('T');
  const [today = ''] = new Date(now).toISOString().split('T');
  const clock = `${time.slice(0, 8)} UTC`;
  if (date === today) return clock;
  const [year = '', month = '', day = ''] = date.split('-');
  const named = `${Number(day)} ${MONTHS[Number(month) - 1] ?? ''}`;
  return `${clock} on ${named}${today.startsWith(year) ? '' : ` ${year}`}`;
}
