import { describe, expect, it } from 'vitest';
import { shownChanges } from '../../../../gateway/web/inbox/pages/policy/policy-changes.ts';

const same = (count: number): string[] => Array.from({ length: count }, (_, n) => `  rule-${n}`);

describe('the changes of a policy', () => {
  it('stand with two lines around them; other lines are only counted', () => {
    const lines = [...same(100), '- old', '+ new', ...same(3)];
    expect(shownChanges(lines)).toEqual({
      lines: [
        '  … 98 lines unchanged',
        '  rule-98',
        '  rule-99',
        '- old',
        '+ new',
        '  rule-0',
        '  rule-1',
        '  … 1 line unchanged',
      ],
      left: 0,
    });
  });

  it('are all there in a short policy', () => {
    const lines = ['+ first', ...same(2)];
    expect(shownChanges(lines).lines).toEqual(lines);
  });

  it('end where they are too long for a page', () => {
    const lines = Array.from({ length: 200 }, (_, n) => `+ ${n} ${'x'.repeat(996)}`);
    const { lines: shown, left } = shownChanges(lines);
    expect(shown.length + left).toBe(200);
    expect(shown.join('').length).toBeLessThan(60_001);
  });
});
