import type { CommandSpec, OptionSpec } from '../command.ts';
import { MCP_CLIENT_NAMES, SAMPLE_NAMES } from './specs-names.ts';

const SOURCE: OptionSpec = {
  flag: 'source',
  value: 'NAME',
  summary: 'Only events of this source.',
  stored: 'sources',
};
const TYPE: OptionSpec = {
  flag: 'type',
  value: 'TYPE',
  summary: 'Only this event type, or a prefix ending `*` such as `invoice.*`.',
};
const SCHEME: OptionSpec = {
  flag: 'scheme',
  value: 'SCHEME',
  summary: 'How the body is signed.',
  choices: ['stripe', 'github', 'hmac_sha256', 'standard_webhooks'],
};
const SECRET: OptionSpec = {
  flag: 'secret',
  value: 'SECRET',
  summary:
    'The secret: @file, - for standard input, or as it is. Other users of the machine can read arguments; SVC_WEBHOOK_SECRET does as well.',
};
const BODY: OptionSpec = {
  flag: 'body',
  value: 'BODY',
  summary: 'The body: @file, - for standard input (the default), or as it is.',
};
const SIGNATURE_HEADER: OptionSpec = {
  flag: 'signature-header',
  value: 'NAME',
  summary: 'Only for hmac_sha256: the header with the signature (x-signature).',
};

const inboxWork: CommandSpec = {
  words: ['inbox', 'work'],
  summary: 'Run a command for each event.',
  description:
    'Claims events one after another and runs the command with the whole event as JSON on standard input and SVC_EVENT_ID, SVC_EVENT_TYPE, SVC_EVENT_SOURCE and SVC_LEASE_ID in its environment. The lease is extended while it runs. Exit 0 acks the event with standard output as its result; 75 gives it back to be tried again; 65 gives it up at once; any other end gives it back too, and the fifth failure is the last. Ctrl-C waits for what runs; a second one gives it back.',
  args: [],
  options: [
    { flag: 'exec', value: 'CMD', summary: 'The command, for `sh -c`. Needed.' },
    SOURCE,
    TYPE,
    {
      flag: 'concurrency',
      value: 'N',
      summary: 'How many commands run side by side (1 to 64, default 1).',
    },
    {
      flag: 'lease-seconds',
      value: 'N',
      summary: 'How long a claim holds unless extended (30 to 3600, default 300).',
    },
    { flag: 'once', summary: 'End after one event; exit 1 when its command failed.' },
    { flag: 'max', value: 'N', summary: 'End after this many events.' },
    { flag: 'drain', summary: 'End when nothing is pending.' },
  ],
  examples: [
    "inbox work --exec './handle.sh'",
    "inbox work --type 'invoice.*' --exec 'node handle.mjs' --concurrency 4",
    "inbox work --source github --exec 'jq -r .payload.action' --drain",
  ],
  load: () => import('./inbox-work.ts'),
};

const listen: CommandSpec = {
  words: ['listen'],
  summary: 'Print events as they come, or forward them.',
  description:
    'Prints new events without taking them. With --forward each event is claimed and sent to the address as its sender did; 2xx acks it, anything else gives it back, and it comes round again after its pause. Signatures that came with an event are not stored: --scheme and --secret sign it anew.',
  args: [],
  options: [
    SOURCE,
    TYPE,
    {
      flag: 'forward',
      value: 'URL',
      summary: 'Send each event there: a URL, host:port/path or a port.',
    },
    { flag: 'backlog', summary: 'Begin with what is pending already.' },
    { ...SCHEME, summary: 'Sign what is forwarded this way.' },
    SECRET,
    SIGNATURE_HEADER,
  ],
  examples: [
    'listen',
    "listen --source github --type 'pull_request.*'",
    'listen --forward localhost:3000/webhooks --backlog',
    'listen --source stripe --forward 3000/stripe --scheme stripe --secret @secret.txt',
  ],
  load: () => import('./listen.ts'),
};

const trigger: CommandSpec = {
  words: ['trigger'],
  summary: 'Send a realistic sample, signed where that is due, to a source.',
  description:
    'Makes a delivery as the provider would, with fresh ids and times, has it signed with the secret of the source and sends it to the address of the source. Needs an admin key. Without --source the only source that verifies as the sample needs is taken. Mails need no mail server: they are posted to the email source as they are, and without a DKIM signature they come in as not verified. Of a mail --set takes subject, from and text; email.reply needs in_reply_to, and email.bounce message_id: the message_id of a message that was sent.',
  args: [
    {
      name: 'kind',
      required: false,
      summary: 'What to send, such as `github.push`.',
      choices: SAMPLE_NAMES,
    },
  ],
  options: [
    { flag: 'list', summary: 'Show all kinds.' },
    { flag: 'source', value: 'NAME', summary: 'Where to send it.', stored: 'sources' },
    {
      flag: 'count',
      value: 'N',
      summary: 'How many, each with ids of its own (1 to 10000, default 1).',
    },
    {
      flag: 'set',
      value: 'PATH=VALUE',
      summary: 'Change a field of the payload; the value is JSON, else text.',
      repeatable: true,
    },
    { flag: 'dry-run', summary: 'Show the sample and send nothing.' },
  ],
  examples: [
    'trigger github.pull_request.opened',
    'trigger stripe.invoice.paid --set data.object.amount_paid=9900',
    'trigger webhook --source build-bot --count 5',
    'trigger email --set subject="Where is my order?"',
    'trigger email.reply --set in_reply_to=msg_01j9z3k4m5n6p7q8r9s0t1v2w3',
    'trigger --list',
  ],
  load: () => import('./trigger.ts'),
};

const webhookSign: CommandSpec = {
  words: ['webhook', 'sign'],
  summary: 'Print the headers that sign a body.',
  args: [],
  options: [
    SCHEME,
    SECRET,
    BODY,
    SIGNATURE_HEADER,
    {
      flag: 'id',
      value: 'ID',
      summary: 'Only for standard_webhooks: the message id (a fresh one).',
    },
    { flag: 'lines', summary: '`Name: value` lines also where standard output is no terminal.' },
  ],
  examples: [
    'webhook sign --scheme github --secret @secret.txt --body @push.json',
    'webhook sign --scheme stripe --secret @secret.txt --body @event.json --lines | curl -H @- -H content-type:application/json --data-binary @event.json http://localhost:3000/stripe',
  ],
  load: () => import('./webhook-sign.ts'),
};

const webhookVerify: CommandSpec = {
  words: ['webhook', 'verify'],
  summary: 'Check the signature of a webhook.',
  description:
    'Exit 0 when the signature is valid, 1 with the reason when it is not: a missing header, a time more than 300 s away, or another secret or body.',
  args: [],
  options: [
    SCHEME,
    SECRET,
    BODY,
    {
      flag: 'header',
      short: 'H',
      value: "'NAME: VALUE'",
      summary: 'A header of the delivery.',
      repeatable: true,
    },
    SIGNATURE_HEADER,
  ],
  examples: [
    "webhook verify --scheme github --secret @secret.txt --body @push.json -H 'X-Hub-Signature-256: sha256=…'",
    "webhook verify --scheme hmac_sha256 --signature-header x-build-signature --body @body.json -H 'X-Build-Signature: 9f86d0…'",
  ],
  load: () => import('./webhook-verify.ts'),
};

const mcp: CommandSpec = {
  words: ['mcp'],
  summary: 'Serve MCP on standard input and output.',
  description:
    'For clients that start their servers as a command: passes each message to the daemon and starts the daemon when none runs. Speaks the revisions 2026-07-28, 2025-11-25 and 2025-06-18, and keeps what its client subscribes to.',
  args: [],
  options: [],
  examples: ['mcp'],
  load: () => import('./mcp.ts'),
};

const mcpInstall: CommandSpec = {
  words: ['mcp', 'install'],
  summary: 'Set an MCP client up to use this server.',
  description:
    'Adds the server to the configuration of the client and leaves the rest of the file as it is. Repeating it changes nothing.',
  args: [
    {
      name: 'client',
      required: true,
      summary: '`claude-code`, `codex` or `cursor`.',
      choices: MCP_CLIENT_NAMES,
    },
  ],
  options: [
    {
      flag: 'scope',
      value: 'SCOPE',
      summary:
        'For this user or for the project in this folder (project for claude-code, else user).',
      choices: ['user', 'project'],
    },
    { flag: 'name', value: 'NAME', summary: 'The name of the server in the client (svc).' },
    { flag: 'print', summary: 'Show the entry and write nothing.' },
  ],
  examples: [
    'mcp install claude-code',
    'mcp install codex --scope project',
    'mcp install cursor --print',
  ],
  load: () => import('./mcp-install.ts'),
};

/** Commands that work with events and webhooks, and the bridge for MCP clients. */
export const toolCommands: readonly CommandSpec[] = [
  inboxWork,
  listen,
  trigger,
  webhookSign,
  webhookVerify,
  mcp,
  mcpInstall,
];
