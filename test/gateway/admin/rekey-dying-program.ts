import { readAdminSettings } from '../../../gateway/admin/settings.ts';
import { rekey } from '../../../gateway/admin/rekey.ts';

// Changes the master key, and kills itself where that has consequences of its own, the so-and-so many-eth time:
// `rekey-dying-program.ts FOLDER NEW_KEY TIME`. Prints where.

const [folder = '', newKeyFile = '', time = ''] = process.argv.slice(2);
let points = 0;
await rekey({
  settings: readAdminSettings(process.env, { data: folder }),
  newKeyFile,
  signal: new AbortController().signal,
  onProgress: () => undefined,
  at: (point) => {
    points += 1;
    if (points !== Number(time)) return;
    process.stdout.write(point);
    process.kill(process.pid, 'SIGKILL');
  },
});
