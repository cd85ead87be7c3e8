import { describe, expect, it } from 'vitest';
import {
  eventText,
  matchesSearch,
  parseSearch,
  termsOf,
} from '../../../gateway/projects/event-text.ts';
import type { Envelope } from '../../../shared/kernel/envelope.ts';
import { parseExact } from '../../../shared/lib/json/exact-json.ts';

function event(payload: unknown, more: Partial<Envelope> = {}): Envelope {
  return {
    id: 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3',
    type: 'invoice.paid',
    source: 'stripe',
    payload,
    ...more,
  } as Envelope;
}

function finds(query: string, payload: unknown): boolean {
  const search = parseSearch(query);
  if (!search) throw new Error('Nothing to search for.');
  return matchesSearch(search, eventText(event(payload)));
}

describe('a search over an event', () => {
  const payload = {
    from: { name: 'Ana Peña', address: 'ana@example.com' },
    subject: 'Where is ORDER #1042?',
    lines: [{ sku: 'cus_1x9QQ', price: 4900 }],
  };

  it.each([
    'ana',
    'pena',
    'PEÑA',
    'ana@example.com',
    'order',
    'orde',
    '#1042',
    '1042?',
    '"where is order"',
    'cus_1x9',
    '1x9qq',
    '4900',
    'stripe invoice.paid',
    'evt_01j9z3k4m5n6p7q8r9s0t1v2w3',
    'sku',
  ])('finds %s', (query) => expect(finds(query, payload)).toBe(true));

  it.each(['bob', 'rder', 'ana bob', '"order is where"', '49', 'example.org', 'is order'])(
    'does not find %s, except in all its words',
    (query) => expect(finds(query, payload)).toBe(query === 'is order'),
  );

  it('reads numbers as they were written, and no bytes', () => {
    expect(finds('1234567890123456789', parseExact('{"id":1234567890123456789}'))).toBe(true);
    expect(finds('aGVsbG8', { base64: 'aGVsbG8=' })).toBe(false);
  });

  it('is none without a letter or a digit', () => {
    for (const query of ['', '  ', '"', '#!', '""']) expect(parseSearch(query)).toBeNull();
  });

  it('has a bounded size, whatever was sent', () => {
    const text = eventText(event({ text: 'word '.repeat(100_000) }));
    expect(text.length).toBeLessThanOrEqual(64 * 1024);
    const many = Array.from({ length: 20_000 }, (_, index) => `w${index}`).join(' ');
    expect(termsOf(many)).toHaveLength(3000);
    expect(termsOf('x'.repeat(100))).toEqual(['x'.repeat(40)]);
    expect(parseSearch('a b c d e f g h i j')?.words).toHaveLength(8);
  });

  it('makes terms of letters and digits only', () => {
    for (const term of termsOf(`it's "a" \u0000 'b'; DROP`))
      expect(term).toMatch(/^[\p{L}\p{N}]+$/u);
  });
});
