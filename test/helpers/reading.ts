import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../shared/lib/clock.ts';

// Pages take a form only if a person had a second to read them. Before a gateway with a clock of the test's, that second
// is the clock's; before a process, it passes.

const READING_MS = 1000;

/** The time of day, and what a test has added to it. */
export class MovingClock implements Clock {
  #ahead = 0;

  now(): number {
    return Date.now() + this.#ahead;
  }

  advance(ms: number): void {
    this.#ahead += ms;
  }
}

interface Moved {
  advance(ms: number): void;
}

const clocks = new Map<string, Moved>();

/** Names the clock of the gateway at a URL. */
export function hasClock(url: string, clock: Clock): void {
  if ('advance' in clock) clocks.set(new URL(url).origin, clock as Clock & Moved);
}

/** The gateway at a URL has stopped: another process may get its port. */
export function hasNoClock(url: string): void {
  clocks.delete(new URL(url).origin);
}

/** Sets a clock of the test back by the time of one page, so that it's as late as the test says once somebody has read it. */
export function beginOnePageEarlier(clock: Clock): void {
  if ('advance' in clock) (clock as Clock & Moved).advance(-READING_MS);
}

/** A person reads a page of the gateway at this URL, which has just come. */
export async function readPage(url: string): Promise<void> {
  const clock = clocks.get(new URL(url).origin);
  if (clock) clock.advance(READING_MS);
  else await timeOfDay(Date.now() + READING_MS);
}

/** A timer may end a moment before the time of day that the gateway looks at has come. */
async function timeOfDay(ms: number): Promise<void> {
  while (Date.now() < ms) await pause(Math.max(1, ms - Date.now()));
}
