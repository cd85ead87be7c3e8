import type { Command } from 'commander';
import type { CommandSpec, OptionSpec } from '../../command.ts';
import { GLOBAL_OPTIONS, WRITE_OPTIONS } from '../../input/flags.ts';
import { pathOf, usageLine, usageOf } from '../../input/refusals.ts';
import type { HelpRequest } from '../../program.ts';
import { seeAlso } from './see-also.ts';
import { TOPICS, type Topic } from './topics.ts';
import { padToWidth, textWidth, wrapText } from '../terminal-text.ts';

const HELP_COLUMNS = 96;
const NARROWEST = 60;

/** The width of help: the terminal's, within readable limits. */
function helpColumns(terminal: number | undefined): number {
  return Math.max(NARROWEST, Math.min(terminal || HELP_COLUMNS, HELP_COLUMNS));
}

/** The requested page; null if the words aren't a page, as they may name a command. */
export function pageAbout(
  { node, words }: Pick<HelpRequest, 'node' | 'words'>,
  commands: readonly CommandSpec[],
  terminal: number | undefined,
): string | null {
  const columns = helpColumns(terminal);
  if (node === null) {
    if (words.join(' ') === 'all') return overview(commands, columns);
    const topic = TOPICS.find(({ name }) => name === words.join(' '));
    return topic ? topicHelp(topic, columns) : null;
  }
  const formatHelp = (of: Command): string => pageOf(pathOf(of), commands, columns);
  return node.configureHelp({ formatHelp }).helpInformation();
}

/** The page of a command, of a noun or of everything. */
function pageOf(path: readonly string[], commands: readonly CommandSpec[], columns: number) {
  if (path.length === 0) return frontPage();
  const members = commands.filter(({ words }) => path.every((word, at) => words[at] === word));
  const command = members.find(({ words }) => words.length === path.length);
  return command ? commandHelp(command, commands, columns) : groupHelp(path, members, columns);
}

const START: readonly (readonly [string, string])[] = [
  ['svc up', 'start the service on this machine'],
  ['svc source add shop', 'get an address for webhooks'],
  ['svc trigger webhook --source shop', 'send a sample event to it'],
  ['svc inbox wait', 'wait for the event'],
  ['svc inbox claim evt_…', 'claim it and read it'],
  ['svc inbox ack evt_…', 'mark it done'],
  ['svc ask approval deploy "Deploy v2"', 'ask a person, and wait for the answer'],
];

const FIRST = START.filter(([command]) => !/inbox (?:claim|ack)/.test(command));

/** What people use most, for a first look. */
const FRONT: readonly (readonly [string, string])[] = [
  ['Events', 'inbox wait, inbox claim, inbox ack, inbox work, inbox tail'],
  ['Sources', 'source add, source get, trigger, route add, listen'],
  ['People', 'ask approval, ask human, request list, policy get'],
  ['Mail', 'email send, outbox open'],
  ['Disk', 'kv set, kv get, state save, state load, file put'],
  ['Ledger', 'ledger verify, story'],
  ['Keys', 'whoami, key create, env'],
  ['Team', 'login, project use, gateway'],
  ['Service', 'up, open, status, logs, doctor, down'],
  ['Agents', 'mcp install, hook install, api, completion'],
];

/** The overview's headings, with the first words of their commands. */
const GROUPS: readonly (readonly [string, readonly string[]])[] = [
  ['Events', ['inbox', 'once', 'listen']],
  ['Sources and routes', ['source', 'route', 'trigger', 'webhook']],
  ['People and their decisions', ['ask', 'request', 'policy', 'channel', 'outbox']],
  ['Mail', ['email']],
  ['The disk', ['kv', 'state', 'file', 'usage']],
  ['Keys and sessions', ['whoami', 'key', 'session', 'auth', 'env']],
  ['Ledger', ['ledger']],
  ["A team's gateway", ['login', 'logout', 'member', 'project', 'gateway']],
  ['The service on this machine', ['up', 'down', 'status', 'logs', 'doctor']],
  ['Agents, scripts and the shell', ['mcp', 'hook', 'api', 'completion']],
];

/** Exit codes that scripts can rely on. */
const EXIT_LINE =
  'Exit codes: 0 done, 1 refused, 2 wrong usage, 3 not found, 4 not signed in, 5 denied or expired, 6 pending, 7 unreachable, 130 interrupted.';

const OUTPUT_LINE =
  'Output is readable on a terminal, and one line of JSON in a pipe or with --json. Errors and notes go to standard error.';

/** `svc --help`: fits a screen of 80 by 24. */
function frontPage(): string {
  return join([
    'svc: an inbox, people to ask, a disk, mail and a ledger, shared by agents.',
    section('Your first event', FIRST, HELP_COLUMNS),
    section('Commands (svc <command> --help)', FRONT, HELP_COLUMNS),
    [
      'Flags: --json --profile --quiet --no-color --help --version',
      `Topics: ${TOPICS.map(({ name }) => name).join(', ')} (svc help <topic>)`,
      'More: svc help all',
    ].join('\n'),
  ]);
}

/** All commands, flags and topics: `svc help all`. */
function overview(commands: readonly CommandSpec[], columns = HELP_COLUMNS): string {
  const named = new Set(GROUPS.flatMap(([, nouns]) => nouns));
  const rest = commands.map(({ words }) => words[0] ?? '').filter((noun) => !named.has(noun));
  const groups = [...GROUPS, ['More', [...new Set(rest)]] as const];
  const width = Math.max(...commands.map(({ words }) => words.join(' ').length));
  const sections = groups.map(([heading, nouns]) => {
    const members = nouns.flatMap((noun) => commands.filter(({ words }) => words[0] === noun));
    return section(heading, members.map(summaryPair), columns, width);
  });
  return join([
    'svc — the back end agents share: an inbox, people to ask, a disk, mail and a ledger.',
    section('Your first event', START, columns),
    ...sections,
    section('Flags of every command', globalPairs(), columns),
    section('Flags of every command that writes', optionPairs(WRITE_OPTIONS), columns),
    section(
      'Help topics',
      TOPICS.map(({ name, summary }) => [`help ${name}`, summary]),
      columns,
      width,
    ),
    ...[OUTPUT_LINE, EXIT_LINE].map((line) => wrapText(line, columns).join('\n')),
    'More: svc <command> --help',
  ]);
}

/** The commands of one noun: `svc inbox --help`. */
function groupHelp(
  words: readonly string[],
  members: readonly CommandSpec[],
  columns = HELP_COLUMNS,
): string {
  const line = `svc ${words.join(' ')}`;
  return join([
    section('Usage', [[`${line} <command> [flags]`, '']], columns),
    section('Commands', members.map(summaryPair), columns),
    section('Examples', members.slice(0, 4).flatMap(firstExample), columns),
    `More: ${line} <command> --help`,
  ]);
}

/** A page that isn't about one command: `svc help environment`. */
function topicHelp({ summary, sections }: Topic, columns = HELP_COLUMNS): string {
  return join([summary, ...sections.map(([heading, pairs]) => section(heading, pairs, columns))]);
}

/** Everything about one command: `svc inbox claim --help`. */
export function commandHelp(
  command: CommandSpec,
  commands: readonly CommandSpec[] = [],
  columns = HELP_COLUMNS,
): string {
  const { summary, description, args, options, exits = [], examples, writes } = command;
  const under = below(command, commands);
  const also = seeAlso(command, commands).map((one) => `svc ${one}`);
  return join([
    wrapText(summary, columns).join('\n'),
    ...(description === undefined ? [] : [wrapText(description, columns).join('\n')]),
    section('Usage', [[usageLine(command), '']], columns),
    section(
      'Arguments',
      args.map((argument) => [usageOf(argument), argument.summary]),
      columns,
    ),
    section('Flags', optionPairs(options), columns),
    section('Commands', under.filter((one) => one !== command).map(summaryPair), columns),
    section('Exit codes', exits, columns),
    section(
      'Examples',
      examples.map((example) => [`svc ${example}`, '']),
      columns,
    ),
    ...(also.length === 0 ? [] : [`See also: ${also.join(', ')}`]),
    [
      ...(writes
        ? ['Flags of every write: --idempotency-key --retry-for (see: svc help retries)']
        : []),
      'Flags of every command: --json --jq --profile --quiet --no-color --help (see: svc help output)',
    ].join('\n'),
  ]);
}

/** All pages, one after another. */
export function allPages(commands: readonly CommandSpec[]): string {
  const nouns = [...new Set(commands.map(({ words }) => words[0] ?? ''))];
  const pages = nouns.flatMap((noun) => {
    const members = commands.filter(({ words }) => words[0] === noun);
    const isCommand = members.some(({ words }) => words.length === 1);
    const group = isCommand ? [] : [page([noun], groupHelp([noun], members))];
    return [...group, ...members.map((one) => page(one.words, commandHelp(one, commands)))];
  });
  const topics = TOPICS.map((topic) => `$ svc help ${topic.name}\n\n${topicHelp(topic)}`);
  const all = `$ svc help all\n\n${overview(commands)}`;
  return [page([], frontPage()), all, ...topics, ...pages].join('\n');
}

/** Commands whose names continue this one's: `mcp install` below `mcp`. */
function below(command: CommandSpec, commands: readonly CommandSpec[]): CommandSpec[] {
  const { words } = command;
  return commands.filter(
    (one) => one.words.length > words.length && words.every((word, at) => one.words[at] === word),
  );
}

type Pair = readonly [string, string];

function page(words: readonly string[], text: string): string {
  return `$ ${['svc', ...words, '--help'].join(' ')}\n\n${text}`;
}

function join(blocks: readonly string[]): string {
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

/** A heading with aligned pairs; nothing if there are no pairs. */
function section(heading: string, pairs: readonly Pair[], columns: number, width = 0): string {
  if (pairs.length === 0) return '';
  const left = Math.max(width, ...pairs.map(([name, text]) => (text === '' ? 0 : textWidth(name))));
  const room = Math.max(24, columns - left - 4);
  const lines = pairs.flatMap(([name, text]) => {
    if (text === '') return [`  ${name}`];
    const [first = '', ...more] = wrapText(text.replace(/\.$/, ''), room);
    const indent = ' '.repeat(left + 4);
    return [`  ${padToWidth(name, left)}  ${first}`, ...more.map((line) => indent + line)];
  });
  return [`${heading}:`, ...lines].join('\n');
}

function summaryPair({ words, summary }: CommandSpec): Pair {
  return [words.join(' '), summary];
}

function firstExample({ examples }: CommandSpec): Pair[] {
  return examples[0] === undefined ? [] : [[`svc ${examples[0]}`, '']];
}

function globalPairs(): Pair[] {
  return optionPairs([
    ...GLOBAL_OPTIONS,
    { flag: 'version', short: 'V', summary: 'Print the version.' },
  ]);
}

function optionPairs(options: readonly OptionSpec[]): Pair[] {
  const room = options.some(({ short }) => short !== undefined) ? '    ' : '';
  return options.map(({ flag, short, value, summary, choices }) => {
    const name = `${short === undefined ? room : `-${short}, `}--${flag}`;
    const text = summary.replace(/\.$/, '');
    const told = !choices || value?.startsWith('[') || choices.every((one) => text.includes(one));
    return [
      value === undefined ? name : `${name} ${value}`,
      told ? text : `${text}. One of ${choices.join(', ')}`,
    ];
  });
}
