import type { CommandSpec } from './command.ts';
import { daemonCommands } from './commands/specs-daemon.ts';
import { withDiskCommands } from './commands/specs-disk.ts';
import { gatewayCommands } from './commands/specs-gateway.ts';
import { withLedgerCommands } from './commands/specs-ledger.ts';
import { SHELL_NAMES } from './commands/specs-names.ts';
import { ownCommands } from './commands/specs-own.ts';
import { signInCommands } from './commands/specs-signin.ts';
import { withPeopleCommands } from './commands/specs-people.ts';
import { toolCommands } from './commands/specs-tools.ts';
import { operationShapes } from './shapes/operations.ts';
import type { OperationShape } from './operation-shape.ts';
import { operationSpec } from './operation-spec.ts';
import { STORED_NAMES } from './stored-names.ts';

/** Every command: those of the interface first, then those written by hand. */
export function allCommands(): readonly CommandSpec[] {
  return [
    ...withPeopleCommands(
      withLedgerCommands(
        withDiskCommands(operationShapes.map((shape) => operationSpec(shape, loaderOf(shape)))),
      ),
    ),
    ...signInCommands,
    ...daemonCommands,
    ...gatewayCommands,
    ...toolCommands,
    ...ownCommands,
    completionCommand,
  ];
}

/** Operations that ask people, or show what they decided and what was pushed. */
const PEOPLE: ReadonlySet<string> = new Set([
  'ask_approval',
  'ask_human',
  'channel_add',
  'channel_remove',
  'file_url',
  'policy_diff',
  'policy_get',
  'policy_set',
  'policy_test',
  'request_callback_secret',
  'request_status',
  'route_add',
  'route_attempts',
  'route_disable',
  'route_enable',
  'route_list',
  'route_remove',
  'route_retry',
  'route_test',
]);

/** Some operations do more on the command line than to call and show. */
function loaderOf(shape: OperationShape): CommandSpec['load'] {
  if (PEOPLE.has(shape.name)) {
    return async () => (await import('./people/commands.ts')).peopleCommand(shape);
  }
  switch (shape.name) {
    case 'email_send':
      return async () => (await import('./commands/email-send.ts')).emailSend(shape);
    case 'email_status':
      return async () => (await import('./commands/email-status.ts')).emailStatus(shape);
    case 'inbox_claim':
    case 'inbox_list':
    case 'inbox_wait':
      return async () => (await import('./commands/inbox-read.ts')).inboxRead(shape);
    case 'key_rotate':
      return async () => (await import('./commands/key-rotate.ts')).keyRotate(shape);
    case 'ledger_query':
      return async () => (await import('./commands/ledger-query.ts')).ledgerQuery(shape);
    case 'ledger_verify':
      return async () => (await import('./commands/ledger-verify.ts')).ledgerVerify(shape);
    case 'source_list':
      return async () => (await import('./commands/source-list.ts')).sourceList(shape);
    case 'whoami':
      return async () => (await import('./commands/whoami.ts')).whoami(shape);
    default:
      return async () => {
        const { runOperation } = await import('./operation-command.ts');
        return { run: (context) => runOperation(shape, context) };
      };
  }
}

// It prints a script about all commands, so it is handed the list.
const completionCommand: CommandSpec = {
  words: ['completion'],
  summary: 'Print the completion script for your shell.',
  description:
    'Completes commands, flags and known values of flags and arguments. Write it once to where your shell looks for such scripts, or load it when a shell starts.',
  args: [{ name: 'shell', required: false, summary: 'bash, zsh or fish', choices: SHELL_NAMES }],
  options: [
    {
      flag: 'values',
      value: 'NAMES',
      summary: 'Print what is stored of this instead, one a line: the scripts ask for it',
      choices: STORED_NAMES,
    },
  ],
  examples: [
    'completion bash > ~/.local/share/bash-completion/completions/svc',
    'completion zsh > ~/.zfunc/_svc',
    'completion fish > ~/.config/fish/completions/svc.fish',
  ],
  load: async () => {
    const { completionFor } = await import('./commands/completion.ts');
    return completionFor(allCommands());
  },
};
