import { describe, expect, it } from 'vitest';
import { operations } from '../../shared/operations/index.ts';
import { pairLines } from '../../cli/view/pairs.ts';
import { table, type Layout } from '../../cli/view/table.ts';

const same = (text: string): string => text;
const look = (columns: number, layout?: Layout) => ({
  columns,
  now: Date.parse('2026-01-02T12:00:00.000Z'),
  bold: same,
  faint: same,
  green: same,
  red: same,
  yellow: same,
  blue: same,
  typed: same,
  ...(layout && { layout }),
});

const ID = 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3';
const WORDS = 'Refund the order because the parcel was lost';

/** A value as a column may have it. */
function valueOf(column: string): unknown {
  if (/(^|_)id$/.test(column)) return ID;
  if (column.endsWith('_url')) return 'https://hooks.example.com/events/incoming';
  if (/(^|_)at$/.test(column)) return '2026-01-02T11:00:00.000Z';
  return /^(?:summary|note|about|subject)$/.test(column) ? WORDS : 'pending';
}

const LISTS = operations.flatMap(({ name, cli }) => (cli.columns ? [[name, cli.columns]] : []));

describe('a list on a narrow terminal', () => {
  it.each(LISTS as [string, readonly string[]][])(
    'has no line that the terminal would break, and no cut word among others: %s',
    (_, columns) => {
      const row = Object.fromEntries(columns.map((column) => [column, valueOf(column)]));
      for (const width of [60, 80]) {
        const lines = table([row], columns, look(width));
        expect(lines.filter((line) => line.length > width)).toEqual([]);
        const words = WORDS.split(' ');
        for (const [, cut = ''] of lines.join('\n').matchAll(/Refund ((?:\w+ ?)+)…/g)) {
          for (const word of cut.trim().split(' ')) expect(words).toContain(word);
        }
      }
    },
  );

  it('keeps what each is about rather than other columns', () => {
    const columns = ['id', 'received_at', 'status', 'type', 'about'];
    const row = Object.fromEntries(columns.map((column) => [column, valueOf(column)]));
    expect(table([row], columns, look(60))).toEqual([
      'ID                              RECEIVED  ABOUT',
      `${ID}  1 h ago   Refund the order…`,
    ]);
  });

  it('has on later pages the columns of the first', () => {
    const layout: Layout = { columns: '', widths: [] };
    const columns = ['id', 'status', 'about'];
    const [first, second] = [ID, 'evt_1'].map((id) =>
      table([{ id, status: 'pending', about: WORDS }], columns, look(44, layout)),
    );
    expect(first).toEqual([expect.stringMatching(/^ID +ABOUT$/), expect.stringContaining(ID)]);
    expect(second).toEqual([expect.stringMatching(/^evt_1 +Refund/)]);
  });
});

describe('a record on a narrow terminal', () => {
  it('breaks a long text between words, below where it begins', () => {
    const pairs = [
      ['Title', 'Read the time zone from the harbour, not from the server'],
      ['Web inbox', 'http://127.0.0.1:4780/ui (to sign in: npx svc open)'],
    ] as const;
    expect(pairLines(pairs, look(50), '  ')).toEqual([
      '  Title      Read the time zone from the harbour,',
      '             not from the server',
      '  Web inbox  http://127.0.0.1:4780/ui (to sign in:',
      '             npx svc open)',
    ]);
  });

  it('leaves a text alone whose blanks say something', () => {
    const bound = `{"command":"npm  ${'test '.repeat(20)}"}`;
    expect(pairLines([['Bound', bound]], look(50))).toEqual([`Bound  ${bound}`]);
  });
});
