import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { operations } from '../../shared/operations/index.ts';
import { allPages } from './pages.ts';

const tools = operations.filter(({ mcp }) => mcp).map(({ name }) => name);

/** The rest of a paragraph that begins with `As MCP tools:`. */
const LISTS = /As MCP tools:\s(.+?)\.(?:\s|$)/gs;
/** A row of a table whose last column is the tool: `inbox get` and its tool, or a dash. */
const ROWS = /^\| `(\w+ \w+)`\s.*\| +(?:`(\w+)`|–) +\|$/gm;

const wordsOf = (list: string): string[] =>
  [...list.matchAll(/`([a-z_]+\*?)`/g)].flatMap(([, word = '']) =>
    word.endsWith('*')
      ? operations.map(({ name }) => name).filter((name) => name.startsWith(word.slice(0, -1)))
      : [word],
  );

function listedIn(page: string): string[] {
  return [...page.matchAll(LISTS)].flatMap(([, list = '']) => wordsOf(list));
}

function rowsOf(page: string): { readonly name: string; readonly tool: string | null }[] {
  const [, ...tables] = page.split(/\| +MCP tool +\|\n/);
  return tables.flatMap((table) =>
    [...(table.split('\n\n')[0] ?? '').matchAll(ROWS)].map(([, words = '', tool = null]) => ({
      name: words.replace(' ', '_'),
      tool,
    })),
  );
}

const pages = allPages().map((path) => readFileSync(path, 'utf8'));

it('the pages list every MCP tool, and call nothing else one', () => {
  const rows = pages.flatMap(rowsOf);
  const listed = [...pages.flatMap(listedIn), ...rows.flatMap(({ tool }) => tool ?? [])];
  expect(listed.toSorted()).toEqual(tools.toSorted());
});

it('no page says that a command has no tool that has one', () => {
  const rows = pages.flatMap(rowsOf);
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.filter(({ name, tool }) => tool === null && tools.includes(name))).toEqual([]);
});
