import { boundLines } from '../../approvals/bound-values.ts';
import type { OpenedRequest, RequestKind, RequestView } from '../../approvals/approvals.ts';
import { approvedText } from '../../approvals/quorum.ts';
import { threadCounts } from '../../approvals/thread-text.ts';
import { escapeHtml, shownLine } from './display-text.ts';
import type { PageLink } from './page-link.ts';
import { MessageHtml } from './message-html.ts';
import {
  endLine,
  outcomeLine,
  recordedText,
  shortTime,
  shownSpan,
  shownTime,
  statusWords,
} from './status.ts';

/** Telegram allows 4,096 without the tags; the rest is reserve. */
const MESSAGE_MAX_CHARS = 3500;
/** How much one part may take from those after it. */
const SUMMARY_MAX_CHARS = 900;
const NOTE_MAX_CHARS = 800;
const WARNINGS_MAX_CHARS = 700;
const RESULT_MAX_CHARS = 700;
const WHY_MAX_CHARS = 500;
const BOUND_MAX_CHARS = 1200;
const OPTION_MAX_CHARS = 120;

interface KindWords {
  readonly title: string;
  /** What it means for the person, in one sentence. */
  readonly meaning: string;
  /** Above the first line of the agent. */
  readonly summary: string;
}

const KINDS: Readonly<Record<RequestKind, KindWords>> = {
  approval: {
    title: 'Approval requested',
    meaning: 'An agent asks before it acts.',
    summary: 'What it wants to do',
  },
  question: {
    title: 'Question',
    meaning: 'An agent asks. Reply to this message with your answer.',
    summary: 'The question',
  },
  policy: {
    title: 'New policy proposed',
    meaning: 'An agent proposes rules that will decide in your place. They apply once you approve.',
    summary: 'What it proposes',
  },
  file_url: {
    title: 'Public link to a file requested',
    meaning: 'An agent wants a link to a file. Anyone with the link can download the file.',
    summary: 'What it wants to share',
  },
  email_send: {
    title: 'Email to be sent',
    meaning: 'An agent wants to send email from the address of the project.',
    summary: 'What it wants to send',
  },
  channel: {
    title: 'New channel proposed',
    meaning:
      'If you approve, the person behind it also gets requests and can decide, just as you do.',
    summary: 'The new channel',
  },
  member: {
    title: 'Change of members',
    meaning: 'If you approve, it changes who has power in the project.',
    summary: 'The change',
  },
};

/** Asks a person. `page` shows the whole text. */
export function askHtml(opened: OpenedRequest, page: PageLink, isReminder = false): string {
  const { request, now } = opened;
  const footer = (isCut: boolean): string => (isCut ? cutNotice(page) : '');
  return compose(footer, (message) => {
    const { title, meaning } = KINDS[request.kind];
    const risky = request.risk === 'high' ? `⚠️ High risk: ${title}` : title;
    if (opened.votedAt === null) {
      message.heading(isReminder ? `🔁 Still undecided: ${risky}` : risky);
    } else {
      message.heading(recordedText(request));
      message.line(risky);
    }
    origin(message, request);
    message.line(meaning);
    quorum(message, opened);
    thread(message, request);
    message.gap();
    substance(message, request);
    const left = request.expiresAt - now;
    message.line(`Expires: ${shownTime(request.expiresAt)}, in ${shownSpan(left)}`);
    message.line(`Fingerprint: ${request.fingerprint}`);
    options(message, request);
    longTexts(message, request);
  });
}

/** `shop on laptop: 3 asked, 2 allowed` */
function thread(message: MessageHtml, { thread: of }: RequestView): void {
  if (of !== null) message.field('Session:', `${of.name}: ${threadCounts(of)}`);
}

/** `Needs 2 approvals; ana approved at 14:02 UTC` */
function quorum(message: MessageHtml, { request: { approvals }, now }: OpenedRequest): void {
  if (approvals.needed === 1) return;
  const needs = `Needs ${approvals.needed} approvals`;
  if (approvals.given.length === 0) return message.line(`${needs}.`);
  const time = (at: number): string => shortTime(at, now);
  message.field(`${needs};`, approvedText(approvals, { name: shownLine, time }), WHY_MAX_CHARS);
}

/** Reports what a rule approved. */
export function tellHtml(opened: OpenedRequest): string {
  const { request } = opened;
  return compose(cutMark, (message) => {
    message.heading(`ℹ️ ${statusWords(request).words} without asking`);
    message.line("A policy rule decided. You don't need to do anything.");
    decider(message, request);
    origin(message, request);
    message.gap();
    substance(message, request);
    message.line(`Fingerprint: ${request.fingerprint}`);
    longTexts(message, request);
  });
}

/** The asking message after the end of the request: how it ended, then what it asked. */
export function overHtml(opened: OpenedRequest): string {
  const { request } = opened;
  return compose(cutMark, (message) => {
    const { status, decision, comment, withdrawn, unused } = request;
    message.heading(endLine(opened));
    if (withdrawn !== null) message.field('Why:', withdrawn, WHY_MAX_CHARS);
    if (unused !== null) message.field('Too late for the agent:', unused, WHY_MAX_CHARS);
    if (!opened.isDecider) decider(message, request);
    outcome(message, opened);
    if (decision !== null && (status === 'modified' || status === 'answered')) {
      const label = status === 'modified' ? 'The change' : 'The answer';
      message.block(label, decision, { maxChars: RESULT_MAX_CHARS });
    }
    if (comment !== null) {
      message.block('Comment', comment, { maxChars: RESULT_MAX_CHARS });
    }
    message.gap();
    message.line(KINDS[request.kind].title);
    origin(message, request);
    substance(message, request);
    message.line(`Fingerprint: ${request.fingerprint}`);
    longTexts(message, request);
  });
}

/** The outcome, below the decision. */
function outcome(message: MessageHtml, { request, now }: OpenedRequest): void {
  if (request.outcome === null) return;
  const line = outcomeLine(request.outcome, request.status, now);
  const words = request.outcome.kind === 'idle' ? null : request.outcome.words;
  if (words === null) message.line(line);
  else message.field(`${line}:`, words, RESULT_MAX_CHARS);
}

/** Always leaves room for the footer that says something was cut. */
function compose(footer: (isCut: boolean) => string, fill: (message: MessageHtml) => void): string {
  const message = new MessageHtml(MESSAGE_MAX_CHARS - footer(true).length - 1);
  fill(message);
  const end = footer(message.isCut);
  return end === '' ? message.html : `${message.html}\n${end}`;
}

function cutMark(isCut: boolean): string {
  return isCut ? '<i>Cut to fit this message.</i>' : '';
}

function cutNotice({ url, isTappable }: PageLink): string {
  const link = isTappable
    ? `<a href="${escapeHtml(url)}">Open full text</a>`
    : `The full text: <code>${escapeHtml(url)}</code>`;
  return `<b>✂️ This is not all.</b> ${link}`;
}

function decider(message: MessageHtml, { decidedBy, decidedAt }: RequestView): void {
  if (decidedBy !== null) message.field('By:', decidedBy);
  if (decidedAt !== null) message.line(`At: ${shownTime(decidedAt)}`);
}

function origin(message: MessageHtml, request: RequestView): void {
  const { project, agent, keyName } = request;
  message.field('Project:', `${project.name} (${project.slug})`);
  const label = agent.label === null ? 'gave no name' : shownLine(agent.label);
  const on = agent.platform === 'unknown' ? '' : ` on ${agent.platform}`;
  message.field('Agent:', `${label}${on}, key ${keyName}`);
}

function substance(message: MessageHtml, request: RequestView): void {
  const { action, amount, risk, kind, summary } = request;
  if (summary !== '') {
    const label = `${KINDS[kind].summary}, as the agent wrote it`;
    message.block(label, summary, { maxChars: SUMMARY_MAX_CHARS });
  }
  bound(message, request);
  if (action !== null) message.field('Action:', action);
  if (amount !== null) message.line(`Amount: ${shownAmount(amount)}`);
  if (risk !== null) message.line(`Risk: ${risk}`);
  if (request.event !== null) {
    const { id, source, type } = request.event;
    message.field('Event:', `${type} from ${source}, ${id}`);
  }
}

/** The values come before the agent's longer texts, which could push them out. */
function bound(message: MessageHtml, { bound: values }: RequestView): void {
  if (values === null) return;
  const room = { maxChars: BOUND_MAX_CHARS };
  const isWhole = message.block(
    'What will be done, with exactly these values',
    boundLines(values),
    room,
  );
  if (!isWhole) message.line('✂️ These values are cut. Read all of them on the page first.');
}

function options(message: MessageHtml, request: RequestView): void {
  if (request.options.length === 0) return;
  const isQuestion = request.kind === 'question';
  message.line(isQuestion ? 'Answers to choose from:' : 'You can also approve it with a change:');
  for (const [index, option] of request.options.entries()) {
    message.field(`${index + 1}.`, option, OPTION_MAX_CHARS);
  }
}

function longTexts(message: MessageHtml, request: RequestView): void {
  const { note, warnings, diff, details } = request;
  if (note !== null && note !== '') {
    message.block('Note, as the agent wrote it', note, { maxChars: NOTE_MAX_CHARS });
  }
  if (warnings.length > 0) {
    const lines = warnings.map((warning) => `• ${shownLine(warning)}`).join('\n');
    message.block('⚠️ Warnings', lines, { maxChars: WARNINGS_MAX_CHARS });
  }
  if (diff.length > 0) {
    // A line break within a line would look like another line of the change.
    const lines = diff.map((line) => line.replace(BREAKS, ' ')).join('\n');
    message.block('Change', lines, { isDiff: true });
  }
  if (details !== null && details !== '') {
    message.block('Details, as the agent wrote them', details);
  }
}

const BREAKS = /[\r\n\u0085\u2028\u2029]+/g;

const AMOUNT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 20 });

/** Every digit, in groups of three, so that an extra zero shows. Extreme numbers appear as in JSON. */
function shownAmount(amount: number): string {
  const size = Math.abs(amount);
  return size === 0 || (size >= 1e-6 && size < 1e21) ? AMOUNT.format(amount) : String(amount);
}
