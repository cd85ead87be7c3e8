// Bundles the client into dist/client/, with its types. Called by `build.mjs` at the top.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { build } from 'esbuild';

const SOURCE = 'clients/typescript';
const OUT = 'dist/client';
const DECLARED = join(OUT, 'declared');
const ENTRIES = ['main', 'testing/main'];

/** One ES module for each entry, without dependencies. What only this machine's daemon needs is loaded late. */
export async function buildClient(common) {
  await build({
    ...common,
    format: 'esm',
    splitting: true,
    entryPoints: Object.fromEntries(ENTRIES.map((name) => [name, `${SOURCE}/${name}.ts`])),
    chunkNames: 'parts/[name]-[hash]',
    outdir: OUT,
  });
  const declare = ['-p', `${SOURCE}/tsconfig.json`, '--rootDir', '.', '--outDir', DECLARED];
  execFileSync('node_modules/.bin/tsc', declare, { stdio: 'inherit' });
  copyTypes(ENTRIES.map((name) => join(DECLARED, SOURCE, `${name}.d.ts`)));
  rmSync(DECLARED, { recursive: true });
}

/** Copies the types that a program sees, and no others: they name no package and nothing outside the client. */
function copyTypes(entries) {
  const todo = [...entries];
  const seen = new Set(todo);
  for (let path = todo.pop(); path !== undefined; path = todo.pop()) {
    const text = readFileSync(path, 'utf8');
    for (const [, name] of text.matchAll(/(?:from |import\()'([^']+)'/g)) {
      const next = normalize(join(dirname(path), name.replace(/\.ts$/, '.d.ts')));
      if (!next.startsWith(join(DECLARED, SOURCE))) throw new Error(`${path} names ${name}.`);
      if (!seen.has(next)) todo.push(next);
      seen.add(next);
    }
    const target = join(OUT, relative(join(DECLARED, SOURCE), path));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text.replaceAll(/((?:from |import\()'[^']+)\.ts'/g, "$1.js'"));
  }
}
