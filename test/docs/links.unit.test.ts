import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';
import { allPages } from './pages.ts';

/** A file of many nouns, and files of a data folder. */
const OF_MANY = new Set(['view.ts', 'state.json', 'clock.json']);

const pages = new Map(allPages().map((path) => [path, readFileSync(path, 'utf8')]));

/** The page without its blocks and code, in which nothing is a link or a heading. */
function prose(page: string): string {
  return page.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '').replaceAll(/`[^`\n]*`/g, 'code');
}

/** Targets of links and pictures that are not on the web. */
function targets(page: string): string[] {
  return [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** The anchors that its headings have where pages are shown. */
function anchors(page: string): Set<string> {
  const blocksLeftOut = page.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
  return new Set(
    [...blocksLeftOut.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

it('there are pages', () => {
  expect(pages.size).toBeGreaterThan(15);
});

it.each([...pages.keys()])('leads somewhere with every link: %s', (path) => {
  const broken = targets(pages.get(path) ?? '').filter((target) => {
    const [file = '', anchor] = target.split('#');
    const there = file === '' ? path : normalize(join(dirname(path), file));
    if (!existsSync(there)) return true;
    if (anchor === undefined) return false;
    return statSync(there).isDirectory() || !anchors(pages.get(there) ?? '').has(anchor);
  });
  expect(broken).toEqual([]);
});

/** Files and folders that a builder's page names, as they are set in code. */
function namedFiles(page: string): string[] {
  return [...page.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '').matchAll(/`([\w./-]+)`/g)]
    .map(([, name = '']) => name)
    .filter((name) => /\.(?:tsx?|mjs|json|conf|svg|sql|txt|md)$|\/$/.test(name));
}

const builders = [...pages.keys()].filter(
  (path) => /^\w+\/README\.md$/.test(path) || path === 'docs/add-an-operation.md',
);

it.each(builders)('names only files that there are: %s', (path) => {
  const names = namedFiles(pages.get(path) ?? '');
  expect(names.length).toBeGreaterThan(5);
  // As seen from the folder, or from the top.
  const elsewhere = ['shared', 'shared/operations', 'daemon', 'gateway'];
  const missing = names
    .filter((name) => !OF_MANY.has(name))
    .filter((name) => ![dirname(path), '.', ...elsewhere].some((at) => existsSync(join(at, name))));
  expect(missing).toEqual([]);
});
