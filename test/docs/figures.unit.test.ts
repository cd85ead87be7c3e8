import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readResults } from '../bench/results.ts';
import { FIGURE_PAGES, withFigures, withoutFigures } from './figures.ts';

/** As the formatter leaves them: columns of a table are as wide as their longest cell. */
function words(page: string): string {
  return page.replaceAll(/-{3,}/g, '---').replaceAll(/[ \t]+/g, ' ');
}

describe.each(FIGURE_PAGES)('%s', (path) => {
  const page = readFileSync(path, 'utf8');

  it('shows the recorded figures, and says when and where they were measured', () => {
    const recorded = withFigures(page, readResults());
    expect(words(page)).toBe(words(recorded));
    expect(recorded).toMatch(/Measured on \d{4}-\d\d-\d\d/);
  });

  it('shows no rate that was typed by hand', () => {
    const typed = withoutFigures(page).match(/\d[\d,.]*\s?(?:MB)?\/s\b/g) ?? [];
    expect(typed).toEqual([]);
  });
});

it('a block that nobody makes is an error', () => {
  const page = '<!-- figures: no such block -->\n<!-- /figures -->';
  expect(() => withFigures(page, {})).toThrow('no such block');
});
