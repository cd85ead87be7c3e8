import { expect, it } from 'vitest';
import { fitRows, rowsOf } from '../../cli/view/rows.ts';

it('a line takes a row for each full width, however it is colored', () => {
  expect(rowsOf(['', 'abcd', 'abcde', '\u001b[31mabcd\u001b[0m', '日本語'], 4)).toBe(7);
});

it.each([
  [['a', 'b', 'c'], 3, ['a', 'b', 'c']],
  [['a', 'b', 'c', 'd'], 3, ['a', 'b', '… and 2 more lines']],
  [['a', 'x'.repeat(90), 'c'], 3, ['a', '… and 2 more lines']],
])('%j on %i rows', (lines, room, shown) => {
  expect(fitRows(lines, room, 80)).toEqual(shown);
});
