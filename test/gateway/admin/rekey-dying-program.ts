import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { readAdminSettings } from '../../../gateway/admin/settings.ts';
import { rekey } from '../../../gateway/admin/rekey/rekey.ts';

// Changes the master key, and kills itself where that has consequences of its own, the so-and-so many-eth time:
// `rekey-dying-program.ts FOLDER NEW_KEY TIME`; or when a file that was written would get the name in DIE_BEFORE_NAMING.
// Prints where.

const [folder = '', newKeyFile = '', time = ''] = process.argv.slice(2);
const { DIE_BEFORE_NAMING: fatalName } = process.env;

function dieAt(place: string): void {
  process.stdout.write(place);
  process.kill(process.pid, 'SIGKILL');
}

const { rename } = files;
files.rename = async (from, to) => {
  if (to === fatalName) dieAt(fatalName);
  await rename(from, to);
};
syncBuiltinESMExports();

let points = 0;
await rekey({
  settings: readAdminSettings(process.env, { data: folder }),
  newKeyFile,
  signal: new AbortController().signal,
  onProgress: () => undefined,
  at: (point) => {
    points += 1;
    if (points === Number(time)) dieAt(point);
  },
});
