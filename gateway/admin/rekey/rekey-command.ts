import { pluralize } from '../../../shared/lib/pluralize.ts';
import { AdminError } from '../admin-error.ts';
import type { AdminCall } from '../move/move-commands.ts';
import { progressOn } from '../progress.ts';
import { rekey, type RekeyResult } from './rekey.ts';

/** Say which files matter now, so that nobody wonders afterwards. */
const WHAT_ENDS =
  'What stops working: links to payloads, to the HTML of mails and to downloads, which last at most an hour. Reload any form that is open in a browser. Everything else keeps working.\n';

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
    onProgress: progressOn(process.stderr, 'Resealing'),
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
  { from, to, projects, values, hashes, nameKeyFile, oldKeyFile }: RekeyResult,
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

function linesOf(data: string, { from, to, projects, values, hashes }: RekeyResult): string {
  const what = [
    pluralize(projects, 'project'),
    pluralize(values, 'secret'),
    pluralize(hashes, 'keyed hash', 'keyed hashes'),
  ].join(', ');
  return `Resealed all of ${data} from the master key ${from} to the master key ${to}: ${what}.\n`;
}

function aboutKeys({ nameKeyFile, oldKeyFile, isNewKeyGone }: RekeyResult, newKey: string): string {
  if (nameKeyFile === null) {
    const copy = isNewKeyGone
      ? `${newKey} no longer holds it: keep a copy of it elsewhere.`
      : `${newKey} is a copy of it: keep that elsewhere.`;
    return `The new key is in its place. ${copy}\nThe old key is kept as ${oldKeyFile}: backups and exports made until now need it. Delete it with the last of them.\n`;
  }
  const only = isNewKeyGone
    ? `${newKey} no longer holds it, and that file is the only one: move it out of the data folder, and name its new place.\n`
    : '';
  return `BEFORE THE NEXT START, NAME THE NEW KEY: SVC_MASTER_KEY_FILE=${nameKeyFile}\n${only}Keep the old one for backups and exports made until now.\n`;
}
