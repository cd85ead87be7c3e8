import { ExactNumber } from '../lib/json/exact-json.ts';
import { isObject } from '../lib/guards.ts';
import type { HeaderRecord, Place, FieldLookup, SigningTime } from './sender.ts';
import { parsedUrl } from '../lib/urls.ts';

/** More items than any sender puts into one delivery. */
const ITEMS_MAX = 10_000;

/** What a place may be in. */
export interface Places {
  readonly headers: HeaderRecord;
  readonly url: string;
  readonly payload: () => unknown;
}

/** The values at a path such as `data.id`, in which `*` is each item of a list. */
export function valuesAt(value: unknown, path: string): unknown[] {
  let found: unknown[] = [value];
  for (const name of path.split('.')) {
    const next = found.flatMap((one) => {
      if (name === '*') return Array.isArray(one) ? (one as unknown[]) : [];
      return isObject(one) && Object.hasOwn(one, name) ? [one[name]] : [];
    });
    found = next.slice(0, ITEMS_MAX);
  }
  return found;
}

/** The texts at a path; numbers and truth values as text, anything else isn't there. */
export function textsAt(value: unknown, path: string): string[] {
  return valuesAt(value, path)
    .map((one) => (isScalar(one) ? String(one) : one))
    .filter((one) => typeof one === 'string' && one !== '') as string[];
}

function isScalar(value: unknown): value is number | boolean | ExactNumber {
  return typeof value === 'number' || typeof value === 'boolean' || value instanceof ExactNumber;
}

/** The texts in a place, in their order. */
export function textsIn(place: Place, from: Places): string[] {
  const at = place.indexOf(':');
  const [kind, name] = [place.slice(0, at), place.slice(at + 1)];
  if (kind === 'body') return textsAt(from.payload(), name);
  const text = kind === 'header' ? headerOf(from.headers, name) : queryOf(from.url, name);
  return text === '' ? [] : [text];
}

function namesIn(place: Place, from: Places): string[] {
  if (!place.startsWith('body:')) return textsIn(place, from);
  const values = valuesAt(from.payload(), place.slice('body:'.length));
  return values.filter((one) => typeof one === 'string');
}

/** A header without the spaces around it; empty if it isn't there. */
export function headerOf(headers: HeaderRecord, name: string): string {
  // A configured name may be `constructor`, and a caller's record may have a prototype.
  return Object.hasOwn(headers, name) ? (headers[name] ?? '').trim() : '';
}

function queryOf(url: string, name: string): string {
  return parsedUrl(url)?.searchParams.get(name) ?? '';
}

/** What the first way of a reading gives; null if none does: all ids in a place, or the first name, which is no number. */
export function readingOf(
  reading: FieldLookup,
  from: Places,
  takes: 'ids' | 'name',
): string | null {
  const textIn = (place: Place): string =>
    takes === 'ids' ? textsIn(place, from).join(',') : (namesIn(place, from)[0] ?? '');
  for (const way of reading) {
    const [first, ...others] = (typeof way === 'string' ? [way] : way) as [Place, ...Place[]];
    const text = textIn(first);
    if (text === '') continue;
    return [text, ...others.map(textIn)].filter((part) => part !== '').join('.');
  }
  return null;
}

/** Where a time may stand; nowhere of its own if it's an item beside the signatures. */
export function timePlaces({ at }: SigningTime): readonly Place[] {
  if (typeof at !== 'string') return at;
  return at.startsWith('item:') ? [] : [at as Place];
}

/** The name of a header, or the path in the body, as people read it. */
export function placeText(place: Place): string {
  const at = place.indexOf(':');
  const name = place.slice(at + 1);
  return place.startsWith('body:') ? `field ${name} in its body` : `header ${name}`;
}

/** The headers that these places name. */
export function headersAmong(places: readonly Place[]): string[] {
  const lead = 'header:';
  return places.filter((one) => one.startsWith(lead)).map((one) => one.slice(lead.length));
}
