import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

// What a page for agents owes them: every page, in one sentence each.

const index = readFileSync('llms.txt', 'utf8');

const entries = [...index.matchAll(/^- \[([^\]]+)\]\(([\w./-]+\.md)\): (.+)$/gm)].map(
  ([, name = '', path = '', sentence = '']) => ({ name, path, sentence }),
);

function pagesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
}

it('lists every page of the docs, and the pages at the top of the package', () => {
  const top = ['README.md', 'SKILL.md', 'SECURITY.md', 'CHANGELOG.md'];
  expect(entries.map(({ path }) => path).toSorted()).toEqual(
    [...top, ...pagesIn('docs'), ...pagesIn('docs/decisions')].toSorted(),
  );
});

it('says of each in one sentence what it is good for', () => {
  const others = entries.filter(
    ({ sentence }) => !/^[A-Z][^.]*(?:\.\w[^.]*)*\.$/.test(sentence) || sentence.length > 140,
  );
  expect(others).toEqual([]);
});

it('has the form of https://llmstxt.org: a title, what it is, and lists of links', () => {
  const lines = index.split('\n').filter((line) => line !== '');
  expect(lines[0]).toBe('# svc');
  expect(lines[1]).toMatch(/^> .+\.$/);
  const [, ...sections] = index.split(/^## .+$/m);
  expect(sections.length).toBeGreaterThan(3);
  for (const section of sections) {
    const others = section.split('\n').filter((line) => line !== '' && !line.startsWith('- ['));
    expect(others).toEqual([]);
  }
});
