import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Additions, CommandFile, Declaration } from '../command.ts';

const FOLDER = fileURLToPath(new URL('../commands', import.meta.url));

type DeclarationEntry = readonly [path: string, declaration: Declaration | Additions];

const found = await Promise.all(
  readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map(async (name): Promise<DeclarationEntry> => {
      const path = name.slice(0, -'.ts'.length);
      const { declaration = {} } = (await import(
        /* @vite-ignore */ `../commands/${path}.ts`
      )) as CommandFile;
      return [path, declaration];
    }),
);

/** All commands' declarations, by file path. The build writes this list into the bundle: see build.mjs. */
export const declarations: readonly DeclarationEntry[] = found.toSorted(
  ([one, { order: first = 0 }], [other, { order: second = 0 }]) =>
    byText(nounOf(one), nounOf(other)) || first - second || byText(one, other),
);

function nounOf(path: string): string {
  return path.split('/')[0] ?? '';
}

function byText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
