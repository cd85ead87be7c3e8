import type { JSX } from 'hono/jsx/jsx-runtime';
import { minuteOfDay } from './time.ts';

/** A time for a scale or a table, without seconds. The script shows it in the reader's time zone. */
export function Minute({ at, now }: { readonly at: number; readonly now: number }): JSX.Element {
  return (
    <time datetime={new Date(at).toISOString()} data-short>
      {minuteOfDay(at, now)}
    </time>
  );
}
