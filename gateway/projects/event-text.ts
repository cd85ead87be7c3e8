import type { Envelope } from '../../shared/kernel/envelope.ts';
import { ExactNumber } from '../../shared/lib/json/exact-json.ts';

// What a search over events reads, and how it compares: the same for an index and for a text that no index has.

/** The start of an event's text that a search reads. */
const TEXT_MAX_CHARS = 64 * 1024;
/** Different words of one event. */
const TERMS_MAX = 3000;
/** The rest of a longer word makes no difference. */
const TERM_MAX_CHARS = 40;
/** A shorter word must match a whole one, because too many words start with it. */
const PREFIX_MIN_CHARS = 3;
const WORDS_MAX = 8;
const DEPTH_MAX = 130;

const TERM = /[\p{L}\p{N}]+/gu;

/** What somebody searches for: each word must be in the event. */
export interface EventSearch {
  readonly words: readonly SearchedWord[];
}

interface SearchedWord {
  /** As a text must have it, folded. */
  readonly needle: string;
  readonly terms: readonly SearchedTerm[];
}

interface SearchedTerm {
  readonly term: string;
  /** Also matches words that start with it. */
  readonly isPrefix: boolean;
}

/**
 * Reads words, and phrases between double quotes. The last part of a word also matches longer ones. Null if there is
 * nothing to search for.
 */
export function parseSearch(query: string): EventSearch | null {
  const words: SearchedWord[] = [];
  for (const [, phrase, word] of query.matchAll(/"([^"]*)"?|([^\s"]+)/g)) {
    const needle = folded(phrase ?? word ?? '').replaceAll(EDGES, '');
    const terms = termsOf(needle);
    if (terms.length === 0 || words.length === WORDS_MAX) continue;
    words.push({ needle, terms: terms.map((term, index) => searched(term, index, terms.length)) });
  }
  return words.length > 0 ? { words } : null;
}

const EDGES = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;

function searched(term: string, index: number, count: number): SearchedTerm {
  return { term, isPrefix: index === count - 1 && term.length >= PREFIX_MIN_CHARS };
}

/** Whether an event has all that is searched for. */
export function matchesSearch(search: EventSearch, text: string): boolean {
  const whole = folded(text);
  if (!search.words.every(({ needle }) => whole.includes(needle))) return false;
  const terms = termsOf(whole);
  const known = new Set(terms);
  return search.words.every((word) =>
    word.terms.every(
      ({ term, isPrefix }) =>
        known.has(term) || (isPrefix && terms.some((one) => one.startsWith(term))),
    ),
  );
}

/** The different words of a text, folded: letters and digits only. */
export function termsOf(text: string): string[] {
  const found = new Set<string>();
  for (const [term] of folded(text).matchAll(TERM)) {
    found.add(term.slice(0, TERM_MAX_CHARS));
    if (found.size === TERMS_MAX) break;
  }
  return [...found];
}

/** Without capitals and accents. */
function folded(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

/** Everything of an event that a search reads, as its reader sees it. */
export function eventText(event: Envelope): string {
  const parts: string[] = [event.id, event.type, event.source, event.thread_id ?? ''];
  for (const { name } of event.attachments ?? []) parts.push(name);
  new Walk(parts).add(event.payload);
  parts.push(...Object.values(event.headers ?? {}));
  return parts.join('\n').slice(0, TEXT_MAX_CHARS);
}

/** Collects the names and plain values of JSON, up to the length that a search reads. */
class Walk {
  readonly #parts: string[];
  #left = TEXT_MAX_CHARS;

  constructor(parts: string[]) {
    this.#parts = parts;
  }

  add(value: unknown, depth = 0): void {
    if (this.#left <= 0 || depth > DEPTH_MAX) return;
    if (typeof value === 'string') this.#push(value);
    else if (typeof value === 'number' || value instanceof ExactNumber) this.#push(String(value));
    else if (Array.isArray(value)) for (const one of value) this.add(one, depth + 1);
    else if (typeof value === 'object' && value !== null) this.#addObject(value, depth);
  }

  #addObject(value: object, depth: number): void {
    // Bytes that are no text have no words.
    if (Object.keys(value).join() === 'base64') return;
    for (const [name, member] of Object.entries(value)) {
      this.#push(name);
      this.add(member, depth + 1);
    }
  }

  #push(text: string): void {
    this.#parts.push(text);
    this.#left -= text.length + 1;
  }
}
