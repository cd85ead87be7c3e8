import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { allPages } from './pages.ts';

/** Names of variables in files with these endings. */
function namesIn(folders: readonly string[]): Set<string> {
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(?:tsx?|mjs)$/.test(path))
      .map((path) => join(folder, path)),
  );
  return new Set(files.flatMap((path) => variables(readFileSync(path, 'utf8'))));
}

function variables(text: string): string[] {
  return text.match(/\bSVC_[A-Z]+(?:_[A-Z]+)*\b/g) ?? [];
}

/** Of the build alone. */
const INTERNAL = new Set(['SVC_BUILD_CACHE']);

it('every variable that the program reads stands on a page', () => {
  const told = new Set(allPages().flatMap((path) => variables(readFileSync(path, 'utf8'))));
  const read = [...namesIn(['cli', 'clients', 'daemon', 'gateway', 'shared'])];
  expect(read.filter((name) => !told.has(name) && !INTERNAL.has(name))).toEqual([]);
});

const known = namesIn(['cli', 'clients', 'daemon', 'gateway', 'shared', 'test']);

it.each(allPages())('names only variables that there are: %s', (path) => {
  const named = variables(readFileSync(path, 'utf8'));
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});
