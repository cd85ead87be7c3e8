import { isoTime } from '../../shared/lib/clock.ts';
import { boundLines } from '../approvals/bound-values.ts';
import type { EndedOutcome } from '../../shared/rules/requests/outcome.ts';
import { limitText } from '../../shared/rules/inbox/ingress-limit.ts';
import { ROLE_RULES } from '../../shared/rules/roles.ts';
import type {
  AccessView,
  ChannelView,
  InvitationView,
  LimitedView,
  OpenedRequest,
  RequestKind,
  RequestStatus,
  RequestView,
} from '../approvals/approvals.ts';
import { approvedText } from '../approvals/quorum.ts';
import { threadCounts } from '../approvals/thread-text.ts';
import { named, oneLine, quote } from './plain-text.ts';

/** The text of a mail to a person. */
export interface MessageText {
  readonly subject: string;
  readonly text: string;
}

// Plain text only: every mail program shows it and every screen reader reads it. HTML would add nothing, and would let an
// agent's text pass for ours. Every line of an agent's text is marked. An agent's details come last, and after them we
// write nothing but headings.

const SUBJECT_CHARS_MAX = 120;
const SUMMARY_CHARS_MAX = 1000;
const NAME_CHARS_MAX = 80;
const REMARK_CHARS_MAX = 300;
/** Per piece of a request. The page shows the rest. */
const QUOTED_LINES_MAX = 300;
const BOUND_LINES_MAX = 40;

type Field = readonly [name: string, value: string];

/** What the agent asks for, in the subject and in the first line. */
const ASKS: Readonly<Record<RequestKind, readonly [subject: string, line: string]>> = {
  approval: ['approve?', 'An agent asks you to approve an action.'],
  question: ['question:', 'An agent asks you a question.'],
  policy: ['approve policy?', 'An agent asks you to approve a policy change.'],
  file_url: ['approve link?', 'An agent asks you to approve a public link to a file.'],
  email_send: ['approve mail?', 'An agent asks you to approve an email it wants to send.'],
  channel: ['approve channel?', 'An agent asks you to approve a new approver.'],
  member: ['approve member?', 'A key asks you to change who has power in the project.'],
};

/** Asks a person. Nothing in the mail decides; its only link opens the page that does. */
export function askMessage(
  { request, channel }: OpenedRequest,
  url: string,
  { isReminder = false, isReply = false } = {},
): MessageText {
  const [, line] = ASKS[request.kind];
  const words = request.kind === 'question' ? QUESTION_WORDS : APPROVAL_WORDS;
  return {
    subject: (isReply ? 'Re: ' : '') + askSubject(request),
    text: messageBody([
      [`${isReminder ? 'Reminder, still undecided. ' : ''}${line} In its words:`],
      summaryLines(request),
      fieldLines([
        ...whoAndWhat(request),
        ['Expires', `${timeText(request.expiresAt)}${words.expiry}`],
      ]),
      quorumLines(request),
      threadLines(request),
      ...boundPiece(request),
      remarkLines(request),
      [`${words.next} on this page. It shows the same fingerprint:`],
      [url],
      [
        'Opening the page decides nothing; its buttons do. Anyone with the link can',
        "decide in your name, so don't forward this email. We don't read replies.",
      ],
      [...words.unexpected, stopLine(request)],
      [reachedBy(channel.label, request.project)],
      ...agentsWords(request),
    ]),
  };
}

/** All mails about a request or a thread share a subject, so mail programs show them together. */
function askSubject({ kind, project, summary, thread }: RequestView): string {
  return subjectOf(project, `${ASKS[kind][0]} ${thread?.name ?? summary}`);
}

/** A session is stopped on its page; its key may be the one of all sessions. */
function stopLine({ thread, keyName }: RequestView): string {
  return thread === null
    ? `To stop the agent, revoke its key ${nameText(keyName)}.`
    : 'To stop the agent, open "Stop this agent" on the page.';
}

function threadLines({ thread }: RequestView): string[] {
  return thread === null ? [] : [`${nameText(thread.name)}: ${threadCounts(thread)}.`];
}

const APPROVAL_WORDS = {
  expiry: '; after that it is not approved',
  next: 'Read all of it and decide',
  unexpected: [
    "Didn't expect this? Deny it on the page, or do nothing: without",
    'your approval the agent may not go on.',
  ],
};

const QUESTION_WORDS = {
  expiry: '',
  next: 'Answer',
  unexpected: ["Didn't expect this? Don't answer."],
};

/** Tells a person what a policy rule approved. It asks nothing, so it has no link. */
export function tellMessage({ request, channel }: OpenedRequest): MessageText {
  const { decidedBy, decidedAt, createdAt } = request;
  return {
    subject: subjectOf(request.project, `approved by policy: ${request.summary}`),
    text: messageBody([
      ["Your policy approved an agent's request. You don't need to do anything. The agent wrote:"],
      summaryLines(request),
      fieldLines([
        ...whoAndWhat(request),
        ...(decidedBy === null ? [] : [field('Rule', decidedBy)]),
        ['Approved', timeText(decidedAt ?? createdAt)],
      ]),
      [
        "Wouldn't have approved this? Change the rule. To stop the agent,",
        `revoke its key ${nameText(request.keyName)}. We don't read replies.`,
      ],
      [reachedBy(channel.label, request.project)],
      ...agentsWords(request),
    ]),
  };
}

const YOU_DID: Readonly<Partial<Record<RequestStatus, string>>> = {
  approved: 'You approved',
  modified: 'You approved with a change',
  answered: 'You answered',
};

/** A reply to the mail that asked: the agent has finished what the person agreed to, or given up. */
export function outcomeMessage(
  { request, votedAt, now }: OpenedRequest,
  { kind, at, words }: EndedOutcome,
  url: string,
): MessageText {
  const [done, said] =
    kind === 'done' ? ['Done', 'Result'] : ['Not done: the agent gave up', 'Reason'];
  return {
    subject: `Re: ${askSubject(request)}`,
    text: messageBody([
      [`${done}. You don't need to do anything.`],
      ...(words === null ? [] : piece(`${said}, as the agent wrote it`, words)),
      fieldLines([
        [kind === 'done' ? 'Done' : 'Ended', timeText(at)],
        [YOU_DID[request.status] ?? 'You decided', timeText(votedAt ?? request.decidedAt ?? now)],
        ['Project', projectText(request.project)],
        ['Fingerprint', request.fingerprint],
      ]),
      summaryLines(request),
      ['This page shows the request and what became of it:'],
      [url],
      ["We don't read replies."],
    ]),
  };
}

/** Tells the owner why senders are turned away. It asks nothing. */
export function limitedMessage(
  { project, source, kind, limit = 0 }: LimitedView,
  inboxUrl: string,
): MessageText {
  const isDisk = source === null;
  const what = isDisk ? 'the project takes nothing in' : `source limited: ${source}`;
  return {
    subject: subjectOf(project, what),
    text: messageBody([
      [
        isDisk
          ? "The project isn't accepting events, mail or files right now."
          : "A source of the project isn't accepting events right now.",
        limitText(kind, limit),
      ],
      fieldLines([['Project', projectText(project)], ...(isDisk ? [] : [field('Source', source)])]),
      [
        'Nothing that came in before is lost. Senders are told to try again later;',
        'mail stays in the mailbox until there is room.',
      ],
      [
        ...(isDisk
          ? ['Delete files you no longer need, and tell the operator of the server.']
          : ["If you don't know the sender, remove the source and add it again: that gives"]),
        ...(isDisk ? [] : ['it a new address. svc usage and the web inbox show the limits:']),
      ],
      [inboxUrl],
      ["You get this at most once a day. We don't read replies."],
    ]),
  };
}

const MAY: Readonly<Record<AccessView['kind'], string>> = {
  member: 'Role',
  key: 'May',
  route: 'Gets',
};

/** Tells an owner of a new member, admin key or route. It asks nothing. */
export function accessMessage(
  { project, kind, name, what, maker, at }: AccessView,
  pageUrl: string,
): MessageText {
  const thing = kind === 'key' ? 'key with admin' : kind;
  return {
    subject: subjectOf(project, `new ${thing}: ${name}`),
    text: messageBody([
      [`The project has a new ${thing}.`],
      fieldLines([
        ['Project', projectText(project)],
        field(kind === 'route' ? 'Sends to' : 'Name', name),
        field(MAY[kind], what),
        field('Made by', maker),
        ['When', timeText(at)],
      ]),
      ["If you don't know it, end it on this page:"],
      [pageUrl],
      ["You get one message for each. We don't read replies."],
    ]),
  };
}

/** Asks the person who reads an address to confirm it. */
export function verifyMessage({ label, project, address }: ChannelView, url: string): MessageText {
  return {
    subject: subjectOf(project, 'confirm this address'),
    text: messageBody([
      ["Someone wants to ask you here when a project's agents need approval."],
      fieldLines([
        ['Project', projectText(project)],
        field('Channel', label),
        ['Address', oneLine(address, NAME_CHARS_MAX)],
      ]),
      ['If you agree, confirm it on this page:'],
      [url],
      [
        'Opening the page confirms nothing; its button does. The link works for a day.',
        'The project owner has to agree too before anyone asks you anything.',
      ],
      ["Didn't expect this? Do nothing. We don't read replies."],
    ]),
  };
}

/** Invites a person to share a project. */
export function joinMessage(
  { project, role, address, inviter }: InvitationView,
  url: string,
): MessageText {
  return {
    subject: subjectOf(project, 'you are invited'),
    text: messageBody([
      ['You are invited to share a project whose agents work with svc.'],
      fieldLines([
        ['Project', projectText(project)],
        ['Role', role],
        field('Invited by', inviter),
        ['Address', oneLine(address, NAME_CHARS_MAX)],
      ]),
      [`As ${role}: ${ROLE_RULES[role].summary}`],
      ['Accept on this page:'],
      [url],
      [
        'Opening the page accepts nothing; its button does. The link works once, for',
        "7 days. Anyone with it can join in your name, so don't forward this email.",
      ],
      ["Didn't expect this? Do nothing. We don't read replies."],
    ]),
  };
}

export function messageBody(paragraphs: readonly (readonly string[])[]): string {
  const filled = paragraphs.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** The slug comes first because nobody can make it look like anything else. */
export function subjectOf({ slug }: RequestView['project'], text: string): string {
  return oneLine(`[${oneLine(slug, NAME_CHARS_MAX)}] ${text}`, SUBJECT_CHARS_MAX);
}

/** `Needs 2 approvals; "ana" approved at 2026-01-02 12:00 UTC.` */
function quorumLines({ approvals }: RequestView): string[] {
  if (approvals.needed === 1) return [];
  const approved = approvedText(approvals, { name: nameText, time: timeText });
  return [`Needs ${approvals.needed} approvals${approved === '' ? '' : `; ${approved}`}.`];
}

export function summaryLines({ summary }: RequestView): string[] {
  return quote(oneLine(summary, SUMMARY_CHARS_MAX));
}

/** What the agent says of itself. */
function agentText({ label, platform }: RequestView['agent']): string {
  const on = platform === 'unknown' ? '' : ` on ${oneLine(platform, NAME_CHARS_MAX)}`;
  return label === null ? `gave no name${on}` : `${nameText(label)}${on}, by its own account`;
}

function whoAndWhat(request: RequestView): Field[] {
  const { action, agent, amount, event, fingerprint, keyName, project, risk } = request;
  return [
    ['Project', projectText(project)],
    ['Agent', agentText(agent)],
    field('Key', keyName),
    ...(action === null ? [] : [field('Action', action)]),
    ...(amount === null ? [] : [['Amount', String(amount)] as const]),
    ...(risk === null ? [] : [['Risk', risk] as const]),
    ...(event === null ? [] : [['Event', eventText(event)] as const]),
    ['Fingerprint', fingerprint],
  ];
}

function field(name: string, value: string): Field {
  return [name, nameText(value)];
}

export function nameText(name: string): string {
  return named(name, NAME_CHARS_MAX);
}

function fieldLines(fields: readonly Field[]): string[] {
  const width = Math.max(...fields.map(([name]) => name.length)) + 1;
  return fields.map(([name, value]) => `${`${name}:`.padEnd(width)} ${value}`);
}

function projectText({ name, slug }: RequestView['project']): string {
  return `${nameText(name)} (${oneLine(slug, NAME_CHARS_MAX)})`;
}

export function reachedBy(label: string, project: RequestView['project']): string {
  return `You are the channel ${nameText(label)} of the project ${projectText(project)}.`;
}

/** The warnings are our own text, but may quote rules or addresses. */
function remarkLines({ kind, warnings }: RequestView): string[] {
  if (warnings.length === 0) return [];
  const what = kind === 'policy' ? 'Check in this policy:' : 'Check:';
  return [what, ...warnings.map((one) => `- ${oneLine(one, REMARK_CHARS_MAX)}`)];
}

/** The rest of the agent's text, each piece under a heading. */
function agentsWords({ details, diff, note, options }: RequestView): string[][] {
  const pieces = [
    piece('Options', options.map((option, index) => `${index + 1}. ${option}`).join('\n')),
    // Before the rules, which it explains.
    piece('Note', note ?? ''),
    piece('Change', diff.join('\n')),
    piece('Details', details ?? ''),
  ].flat();
  if (pieces.length === 0) return [];
  const warning = [
    'The agent wrote the rest. Each of its lines starts with ">".',
    'Nothing after that mark is from us, whatever it says.',
  ];
  return [warning, ...pieces];
}

/** The values come before the link, so they must not push it out of sight. */
function boundPiece({ bound }: RequestView): string[][] {
  if (bound === null) return [];
  const heading = 'What will be done, with exactly these values';
  return piece(heading, boundLines(bound), BOUND_LINES_MAX);
}

function eventText({ id, source, type }: NonNullable<RequestView['event']>): string {
  return `${nameText(type)} from ${nameText(source)}, ${id}`;
}

function piece(heading: string, text: string, linesMax = QUOTED_LINES_MAX): string[][] {
  if (text.trim() === '') return [];
  const lines = quote(text);
  const isCut = lines.length > linesMax;
  return [
    [isCut ? `${heading} (its first ${linesMax} lines; the page shows all):` : `${heading}:`],
    lines.slice(0, linesMax),
  ];
}

/** `2026-01-02 12:00 UTC` */
export function timeText(at: number): string {
  return `${isoTime(at).slice(0, 16).replace('T', ' ')} UTC`;
}
