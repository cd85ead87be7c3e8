import { isObject } from '../../../../shared/lib/guards.ts';
import type { JsonKey } from './json-path.ts';

// How much room the lines of a JSON tree take on a page, which has a limit.

/** About how many characters of HTML a tree may take; what doesn't fit is a link to a page of its own. */
export const TREE_CHARS = 90_000;
/** What a line takes besides its texts, and what a strange character takes. */
export const LINE_CHARS = 140;
const STRANGE_CHARS = 32;
/** Members of one list or object on a page. */
const MEMBERS_MAX = 100;
const TEXT_MAX_CHARS = 400;
export const TEXT_MIN_CHARS = 20;
/** As many levels are open at first as fit on about one screen. */
const OPEN_LINES = 60;
const OPEN_DEPTH_MAX = 12;

export type JsonContainer = Readonly<Record<string, unknown>> | readonly unknown[];

export function isFolded(value: unknown): value is JsonContainer {
  return Array.isArray(value) || isObject(value);
}

/** Up to `MEMBERS_MAX` members from a position on, and how many there are in all. */
export function membersOf(
  value: JsonContainer,
  from = 0,
): { readonly shown: readonly (readonly [JsonKey, unknown])[]; readonly count: number } {
  const to = from + MEMBERS_MAX;
  if (Array.isArray(value)) {
    const shown = value.slice(from, to).map((one, index) => [from + index, one] as const);
    return { shown, count: value.length };
  }
  const record = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(record);
  return { shown: keys.slice(from, to).map((key) => [key, record[key]]), count: keys.length };
}

/** How many levels to open: all of them if there are few lines, and the first in any case. */
export function depthOf(value: unknown): number {
  let lines = linesWithin(value, 1);
  for (let depth = 2; depth <= OPEN_DEPTH_MAX; depth += 1) {
    const more = linesWithin(value, depth);
    if (more > OPEN_LINES) return depth - 1;
    if (more === lines) return Number.POSITIVE_INFINITY;
    lines = more;
  }
  return OPEN_DEPTH_MAX;
}

/** The lines of the levels down to a depth, counted a little further than fits. */
function linesWithin(value: unknown, depth: number): number {
  if (depth === 0 || !isFolded(value)) return 0;
  let lines = 0;
  for (const [, member] of membersOf(value).shown) {
    if (lines > OPEN_LINES) break;
    lines += 1 + linesWithin(member, depth - 1);
  }
  return lines;
}

/** The start of a text that takes no more room than it has, but always a few characters. */
export function fitting(text: string, room: number): string {
  let chars = Math.min(text.length, TEXT_MAX_CHARS);
  while (chars > TEXT_MIN_CHARS && textCost(text.slice(0, chars)) > room) {
    chars = Math.floor(chars / 2);
  }
  return text.slice(0, chars).toWellFormed();
}

/** About how many characters of HTML values take, counted once and up to the room of a page. */
export class Costs {
  readonly #known = new Map<JsonContainer, number>();

  of(value: unknown): number {
    if (typeof value === 'string') return textCost(value.slice(0, TEXT_MAX_CHARS));
    if (!isFolded(value)) return LINE_CHARS / 4;
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    let cost = LINE_CHARS;
    for (const [key, member] of membersOf(value).shown) {
      if (cost >= TREE_CHARS) break;
      cost += LINE_CHARS + keyCost(key) + this.of(member);
    }
    this.#known.set(value, cost);
    return cost;
  }
}

export function keyCost(key: JsonKey): number {
  return textCost(String(key).slice(0, TEXT_MAX_CHARS));
}

/** The most that one may take so that all of them fit; those that need less get what they need. */
export function levelOf(costs: readonly number[], room: number): number {
  const sorted = costs.toSorted((one, other) => one - other);
  let left = room;
  for (const [index, cost] of sorted.entries()) {
    const share = left / (sorted.length - index);
    if (cost > share) return share;
    left -= cost;
  }
  return Number.POSITIVE_INFINITY;
}

function textCost(text: string): number {
  const strange = text.match(/[^ -~]|[<>&"']/g)?.length ?? 0;
  return text.length + strange * STRANGE_CHARS;
}
