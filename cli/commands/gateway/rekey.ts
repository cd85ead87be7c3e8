import { dataOptions, DATA_OPTIONS } from '../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { becomeGateway } from '../../gateway-process.ts';
import { requiredText } from '../../input/option-values.ts';

export const declaration: Declaration = {
  order: 3,
  summary: 'Change the master key: seal every secret with another one.',
  description:
    'End the gateway first, or the daemon of local mode (`svc down`), and make a backup. Each secret is opened and sealed anew, and what finds people by their addresses is made anew, one transaction a database, after all of it was checked. Until the end both keys are there, the new one in the data folder too, and nothing starts on the data; when it is cut short, run it again. A key in the data folder (master.key) is replaced, and kept beside it under another name; a key that SVC_MASTER_KEY_FILE names stays, and the new one has to be named there before the next start. Backups and exports made before need the key of before. Links to payloads, mails and downloads end, which hold for an hour at most; sign-ins, sessions, links that decide or share, hooks and API keys go on. Not for databases on a server.',
  args: [],
  options: [
    {
      flag: 'new-key',
      value: 'FILE',
      summary: 'File of the new key; made where it is not there',
      stored: 'paths',
    },
    ...DATA_OPTIONS,
  ],
  examples: [
    'gateway rekey --new-key /etc/svc/master-2027.key',
    'gateway rekey --new-key ./new.key --data /var/lib/svc-gateway',
  ],
  seeAlso: ['gateway backup', 'gateway', 'help environment'],
};

/** `svc gateway rekey --new-key FILE` */
export function run(context: CommandContext): Promise<never> {
  const file = requiredText(
    context,
    'new-key',
    'Name a file for the new key; it is made where it is not there.',
  );
  const options = ['rekey', `--new-key=${file}`, ...dataOptions(context)];
  return becomeGateway('gateway/admin', options);
}
