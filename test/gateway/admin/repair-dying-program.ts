import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

// Repairs a data folder from a backup, and kills itself before it moves a file for the so-and-so many-eth time:
// `repair-dying-program.ts DATA BACKUP TIME`.

const [data = '', backup = '', time = ''] = process.argv.slice(2);

const { readdir, rename } = files;
// A folder has no order: here the database is the last.
files.readdir = (async (folder: string) =>
  (await readdir(folder)).toSorted().toReversed()) as typeof readdir;
let moves = 0;
files.rename = async (from, to) => {
  moves += 1;
  if (moves === Number(time)) process.kill(process.pid, 'SIGKILL');
  await rename(from, to);
};
syncBuiltinESMExports();

const { readAdminSettings } = await import('../../../gateway/admin/settings.ts');
const { repairData } = await import('../../../gateway/admin/repair/repair.ts');
await repairData({
  settings: readAdminSettings(process.env, { data }),
  backup,
  replica: null,
  blobs: null,
  mayLose: true,
  now: Date.now(),
  signal: new AbortController().signal,
  onProgress: () => undefined,
});
