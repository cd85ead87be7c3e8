import { rmdir } from 'node:fs/promises';

/** Removes those of a client's folders that are empty. The user may have put more files there: then they stay. */
export async function removeEmpty(folders: readonly string[]): Promise<void> {
  for (const folder of folders) await rmdir(folder).catch(() => undefined);
}
