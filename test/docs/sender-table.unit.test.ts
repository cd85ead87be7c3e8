import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { senderTable } from './sender-table.ts';

it('docs/sources.md lists every sender as it is declared', () => {
  const rows = readFileSync('docs/sources.md', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const from = rows.findIndex(([cell]) => cell === '`--verification`');
  const table = senderTable();
  const written = rows
    .slice(from, from + table.length + 1)
    .filter(([cell]) => !/^-+$/.test(cell ?? ''));
  expect(written).toEqual(table);
});
