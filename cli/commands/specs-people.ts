import { REQUEST_STATUSES } from '../../shared/rules/request-state.ts';
import type { CommandSpec, OptionSpec } from '../command.ts';

const UNTIL_DECIDED: OptionSpec = {
  flag: 'until-decided',
  summary: 'Go on waiting until somebody has decided, or the request expires.',
};

/** How every command ends that asks a person. */
const ENDS =
  'Nobody has decided in time: exit code 6, and the command that waits on is printed. Ctrl-C ends the wait and leaves the request open; a daemon that restarts meanwhile does not end it.';

interface Patience {
  /** What the command line has to say beyond, or other than, what agents are told. */
  readonly description: string;
  readonly options: readonly OptionSpec[];
}

/** Commands that ask a person, by their words. */
const PATIENT: Readonly<Record<string, Patience>> = {
  'ask approval': {
    description: `Waits for a person, unless the policy decides at once. Approved, as asked or with one of the options: exit code 0, so that \`&&\` goes on. Denied, expired or more context needed: 5. ${ENDS}`,
    options: [UNTIL_DECIDED],
  },
  'ask human': {
    description: `Waits for an answer: exit code 0, and the answer is \`decision\` in the JSON. Expired or more context needed: 5. ${ENDS}`,
    options: [UNTIL_DECIDED],
  },
  'policy set': {
    description: `Shows what would change and what can never decide, then waits for a person; once approved, the document replaces the one that holds: exit code 0. What \`policy get\` prints can be changed and given back whole. Denied, expired or more context needed: 5. ${ENDS}`,
    options: [UNTIL_DECIDED],
  },
  'file url': {
    description: `Whoever has the link can read the file without a key until it expires; replacing or deleting the file ends it. A person may have to allow it. Denied, expired or more context needed: exit code 5. ${ENDS}`,
    options: [],
  },
  'email send': {
    description: `Each recipient gets a message of its own. The policy may ask a person first; what waits goes out on its own once approved, and the same call again waits for the same decision meanwhile. Sent or queued: exit code 0. Denied or expired: 5. ${ENDS} Replies come into the inbox as email.received with reply_to set, failures as email.failed and email.bounced.`,
    options: [UNTIL_DECIDED],
  },
};

const watch: CommandSpec = {
  words: ['request', 'watch'],
  summary: 'Watch what waits for people, or wait for one request.',
  description:
    'Without an id: the pending requests, live on a terminal, and how each was decided; in a pipe a line of JSON for each that was asked or decided. With an id: waits until that one is decided, then exit code 0 when the work may go on and 5 when not. It looks every two seconds, and sits out a daemon that is away.',
  args: [
    {
      name: 'request_id',
      required: false,
      summary: 'Wait for this request alone, `req_…`.',
      stored: 'requests',
    },
  ],
  options: [
    {
      flag: 'status',
      value: 'STATUS',
      summary: 'Only requests that stand so (pending).',
      choices: REQUEST_STATUSES,
    },
    { flag: 'once', summary: 'Show what there is now, and end.' },
  ],
  examples: [
    'request watch',
    'request watch req_01j9z3k4m5n6p7q8r9s0t1v2w3 && ./deploy.sh',
    'request watch | jq -r \'select(.change == "decided") | .request.status\'',
  ],
  load: () => import('./request-watch.ts'),
};

/** All commands, with what those about people have beyond the interface. */
export function withPeopleCommands(commands: readonly CommandSpec[]): CommandSpec[] {
  const at = commands.findLastIndex(({ words }) => words[0] === 'request') + 1;
  const all = [...commands.slice(0, at), watch, ...commands.slice(at)];
  return all.map((command) => {
    const patience = PATIENT[command.words.join(' ')];
    return patience ? patient(command, patience) : command;
  });
}

function patient(command: CommandSpec, { description, options }: Patience): CommandSpec {
  const { words, summary, writes, examples, load } = command;
  return {
    words,
    summary,
    description,
    ...(writes !== undefined && { writes }),
    examples,
    load,
    // Made when asked for, as those of the command itself.
    get args() {
      return command.args;
    },
    get options() {
      return [...command.options, ...options];
    },
  };
}
