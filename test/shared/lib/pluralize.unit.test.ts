import { describe, expect, it } from 'vitest';
import { pluralize, nounFor } from '../../../shared/lib/pluralize.ts';

describe('a counted noun', () => {
  it.each([
    [0, '0 projects'],
    [1, '1 project'],
    [2, '2 projects'],
  ])('of %i', (count, text) => {
    expect(pluralize(count, 'project')).toBe(text);
  });

  it('may have a plural of its own', () => {
    expect([1, 3].map((count) => pluralize(count, 'entry', 'entries'))).toEqual([
      '1 entry',
      '3 entries',
    ]);
    expect(nounFor(1, 'delivery is', 'deliveries are')).toBe('delivery is');
  });
});
