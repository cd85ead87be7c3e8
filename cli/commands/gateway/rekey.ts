import { dataOptions, DATA_OPTIONS } from '../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { becomeGateway } from '../../gateway-process.ts';
import { requiredText } from '../../input/option-values.ts';

export const declaration: Declaration = {
  order: 3,
  summary: 'Replace the master key and re-encrypt every secret.',
  description:
    "First stop the gateway, or the daemon in local mode (`svc down`), and make a backup. svc checks everything, then re-encrypts each secret and rebuilds the address index, in one transaction per database. Until it finishes, both keys exist (the new one also in the data folder) and nothing can start on the data; if it's interrupted, run it again. svc replaces a key in the data folder (master.key) and keeps the old one there under another name. If SVC_MASTER_KEY_FILE names the key, that file stays: point the setting at the new one before the next start. Older backups and exports still need the old key. Links to payloads, mails and downloads, which last an hour at most, stop working; sign-ins, sessions, decision and share links, hooks and API keys keep working. Doesn't work with databases on a server.",
  args: [],
  options: [
    {
      flag: 'new-key',
      value: 'FILE',
      summary: "File of the new key; created if it doesn't exist",
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

export function run(context: CommandContext): Promise<never> {
  const file = requiredText(
    context,
    'new-key',
    "Name a file for the new key; svc creates it if it doesn't exist.",
  );
  const options = ['rekey', `--new-key=${file}`, ...dataOptions(context)];
  return becomeGateway('gateway/admin', options);
}
