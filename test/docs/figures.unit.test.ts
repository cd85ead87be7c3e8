import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FIGURE_PAGES, withFigures, withoutFigures } from './figures.ts';

describe.each(FIGURE_PAGES)('%s', (path) => {
  const page = readFileSync(path, 'utf8');

  it('shows no rate that was typed by hand', () => {
    const typed = withoutFigures(page).match(/\d[\d,.]*\s?(?:MB)?\/s\b/g) ?? [];
    expect(typed).toEqual([]);
  });
});

it('a block that nobody makes is an error', () => {
  const page = '<!-- figures: no such block -->\n<!-- /figures -->';
  expect(() => withFigures(page, {})).toThrow('no such block');
});
