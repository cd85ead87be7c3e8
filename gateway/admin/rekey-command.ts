import { AdminError } from './admin-error.ts';
import type { AdminCall } from './move-commands.ts';
import { progressOn } from './progress.ts';
import { rekey, type Rekeyed } from './rekey.ts';

/** Nobody should wonder afterwards. */
const WHAT_ENDS =
  'What stops working: links to payloads, to the HTML of mails and to downloads, which hold for an hour at most. A form that is open in a browser has to be loaded again. All else goes on.\n';

/** `rekey --new-key FILE` */
export async function runRekey({
  settings,
  names,
  json,
  signal,
  newKey,
}: AdminCall & { readonly newKey: string | null }): Promise<void> {
  if (newKey === null || newKey === '' || names.length > 0) {
    throw new AdminError('Usage: rekey --new-key FILE');
  }
  const rekeyed = await rekey({
    settings,
    newKeyFile: newKey,
    signal,
    onProgress: progressOn(process.stderr, 'Sealing anew'),
  });
  const { dataFolder } = settings;
  process.stdout.write(
    json ? `${JSON.stringify(summaryOf(dataFolder, rekeyed))}\n` : linesOf(dataFolder, rekeyed),
  );
  process.stderr.write(aboutKeys(rekeyed, newKey));
  process.stderr.write(WHAT_ENDS);
}

function summaryOf(
  data: string,
  { from, to, projects, values, hashes, nameKeyFile, oldKeyFile }: Rekeyed,
) {
  return {
    data,
    master_key: { from, to },
    projects,
    values,
    hashes,
    name_key_file: nameKeyFile,
    old_key_file: oldKeyFile,
  };
}

function linesOf(data: string, { from, to, projects, values, hashes }: Rekeyed): string {
  return `Sealed all of ${data} anew, from the master key ${from} to the master key ${to}: ${projects} projects, ${values} secrets, ${hashes} keyed hashes.\n`;
}

function aboutKeys({ nameKeyFile, oldKeyFile }: Rekeyed, newKey: string): string {
  return nameKeyFile === null
    ? `The new key is in its place, and ${newKey} is a copy of it: keep that elsewhere.\nThe key of before is kept as ${oldKeyFile}: backups and exports made until now need it. Delete it with the last of them.\n`
    : `BEFORE THE NEXT START, NAME THE NEW KEY: SVC_MASTER_KEY_FILE=${nameKeyFile}\nKeep the one of before for backups and exports made until now.\n`;
}
