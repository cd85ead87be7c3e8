import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, 'corpus');

/** An input that did harm once, or would to a careless reader. */
export interface CorpusFile {
  readonly name: string;
  readonly bytes: Buffer<ArrayBuffer>;
}

/** The committed inputs of one kind, which are tried before any that are made up. */
export function corpus(
  kind: 'json' | 'form' | 'mail' | 'policy' | 'mcp' | 'signature',
): CorpusFile[] {
  const folder = join(FOLDER, kind);
  const names = readdirSync(folder).toSorted();
  if (names.length === 0) throw new Error(`There is nothing in ${folder}.`);
  return names.map((name) => ({ name, bytes: Buffer.from(readFileSync(join(folder, name))) }));
}
