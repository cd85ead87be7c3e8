import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const HOUSES = ['cli', 'clients', 'daemon', 'gateway', 'shared'] as const;

interface Import {
  /** A path from the top for files of ours, otherwise the name that was written. */
  readonly target: string;
  readonly typeOnly: boolean;
}

interface Source {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

/** Paths from the top. */
export function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => join(folder, path));
}

export function importsOf(path: string, text: string): Import[] {
  const statement = /^(?:import|export)\s(?:([^;'"]*?)\sfrom\s)?'([^']+)'|\bimport\('([^']+)'\)/gm;
  return [...text.matchAll(statement)].map(([, names = '', plain, dynamic]) => {
    const written = plain ?? dynamic ?? '';
    const target = written.startsWith('.') ? normalize(join(dirname(path), written)) : written;
    return { target, typeOnly: isTypeOnly(names.trim()) };
  });
}

/** `type { A }` and `{ type A, type B }`. */
function isTypeOnly(names: string): boolean {
  if (/^type\b/.test(names)) return true;
  const braced = /^\{([^}]*)\}$/.exec(names)?.[1];
  const list = (braced ?? '').split(',').filter((name) => name.trim() !== '');
  return list.length > 0 && list.every((name) => /^\s*type\s/.test(name));
}

/** The files of the product, with what they import. */
export const sources: readonly Source[] = HOUSES.flatMap(filesUnder).map((path) => {
  const text = readFileSync(path, 'utf8');
  return { path, text, imports: importsOf(path, text) };
});

export function sourcesIn(...folders: string[]): Source[] {
  return sources.filter(({ path }) => folders.some((folder) => path.startsWith(`${folder}/`)));
}

/** The folder at the top in which a file is. */
export function houseOf(path: string): string | undefined {
  return HOUSES.find((house) => path.startsWith(`${house}/`));
}

/** `file -> target` for each import that breaks a rule. */
export function offences(
  among: readonly Source[],
  breaks: (one: Import, from: Source) => boolean,
): string[] {
  return among.flatMap((source) =>
    source.imports
      .filter((one) => breaks(one, source))
      .map(({ target }) => `${source.path} -> ${target}`),
  );
}
