import { parseExact, stringifyExact } from '../../lib/json/exact-json.ts';
import type { EventStatus } from '../inbox/event-state.ts';

/** How long a decided event may wait for an agent before the person who decided is told. */
export const IDLE_MS = 30 * 60_000;

/** What became of the event that a person decided about. */
export type Outcome =
  | EndedOutcome
  /** Nobody works on it half an hour after the decision; `tried` says that somebody did before. */
  | { readonly kind: 'idle'; readonly tried: boolean };

/** The event is done, or dead. `words` were written by an agent: its result, or why it gave up. */
export interface EndedOutcome {
  readonly kind: 'done' | 'dead';
  readonly at: number;
  readonly words: string | null;
}

/** An event, as much of it as tells what became of it. */
export interface OutcomeEvent {
  readonly status: EventStatus;
  readonly attempts: number;
  readonly finishedAt: string | null;
  /** JSON, both of them. */
  readonly result: string | null;
  readonly reason: string | null;
}

/** The outcome of a decision at `now`; null while an agent works on it, or soon may. */
export function outcomeOf(event: OutcomeEvent, decidedAt: number, now: number): Outcome | null {
  const { status, attempts, finishedAt, result, reason } = event;
  if (status === 'done' || status === 'dead') {
    const words = firstLine(status === 'done' ? result : reason);
    return { kind: status, at: Date.parse(finishedAt ?? '') || now, words };
  }
  if (status !== 'pending' || now < decidedAt + IDLE_MS) return null;
  return { kind: 'idle', tried: attempts > 0 };
}

const WORDS_MAX_CHARS = 200;

/** The first line of a text, or the whole of another value on one line, cut to 200 characters. */
function firstLine(json: string | null): string | null {
  if (json === null) return null;
  const value = parseExact(json);
  if (value === null) return null;
  const text = typeof value === 'string' ? value : stringifyExact(value);
  const line = text.split(/[\r\n\u0085\u2028\u2029]/).find((one) => one.trim() !== '');
  if (line === undefined) return null;
  const characters = Array.from(line.trim());
  if (characters.length <= WORDS_MAX_CHARS) return characters.join('');
  return `${characters.slice(0, WORDS_MAX_CHARS - 1).join('')}…`;
}
