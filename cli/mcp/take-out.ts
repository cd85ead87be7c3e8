import { lstat, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { removeEmpty } from './empty-folders.ts';
import { replaceFile } from './replace-file.ts';

interface ClientFile {
  readonly file: string;
  /** The folders of the user and of the project, which aren't the client's. */
  readonly roots: readonly string[];
}

/**
 * Writes a client's file without our entry; deletes a file that holds nothing else, and its folder if that leaves it
 * empty. `isBare` gets the text without white space. False if there was nothing to take out.
 */
export async function takeOut(
  { file, roots }: ClientFile,
  { before, after }: { readonly before: string | null; readonly after: string },
  isBare: (text: string) => boolean,
): Promise<boolean> {
  if (before === null || after === before) return false;
  const bare = after.replaceAll(/\s/g, '');
  const isNothing = bare === '' || bare === '{}' || isBare(bare);
  if (isNothing && (await lstat(file)).isFile()) {
    await rm(file);
    const folder = dirname(file);
    if (!roots.includes(folder)) await removeEmpty([folder]);
  } else {
    await replaceFile(file, after, { newMode: 0o600 });
  }
  return true;
}
