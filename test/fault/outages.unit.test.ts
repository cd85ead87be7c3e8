import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { titlesOf } from '../helpers/cited-tests.ts';

const PAGE = readFileSync('docs/outages.md', 'utf8');
const TABLE = readFileSync('test/fault/outages/README.md', 'utf8');
const ROW = /^\| (.+?) +\| `(test\/[^`]+\.test\.ts)`: (.+?) +\|$/;

/** Below the first heading, which says what the page is about. */
function sentencesOf(page: string): string[] {
  const [, ...sections] = page.split(/^## .*$/m);
  return sections
    .join('\n')
    .split(/^- /m)
    .map((item) => item.replaceAll(/\s+/g, ' ').trim())
    .flatMap((item) => item.split(/(?<=\.) (?=[A-Z`])/))
    .filter(Boolean);
}

const rows = TABLE.split('\n').flatMap((line) => {
  const [, sentence, file, title] = ROW.exec(line) ?? [];
  return sentence && file && title ? [{ sentence, file, title }] : [];
});

describe('the page about outages', () => {
  it('has a test for every sentence, in its order', () => {
    const said = sentencesOf(PAGE);
    expect(said.length).toBeGreaterThan(30);
    const shown = rows.map(({ sentence }) => sentence);
    expect(shown.filter((one, index) => one !== shown[index - 1])).toEqual(said);
  });

  it('names tests that there are', () => {
    const missing = rows.filter(
      ({ file, title }) => !existsSync(file) || !titlesOf(file).has(title),
    );
    expect(missing).toEqual([]);
  });
});
