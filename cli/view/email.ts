import type { EmailMessage } from '../../clients/typescript/generated/types.ts';
import type { Answer } from '../call/answers.ts';
import type { View } from './output.ts';
import { pairLines, type Pair } from './pairs.ts';
import { table, timeText, type Look } from './table.ts';
import { safeLine, wrapText } from './terminal-text.ts';
import { pluralize } from '../../shared/lib/pluralize.ts';

const WIDEST_TEXT = 96;

/** A mail, of which only `email status` says the subject, the sender and when it was asked for. */
type Mail = Answer<'email_send'> & Partial<Answer<'email_status'>>;

/** A call that sends mail: its status, its messages and what to type next. */
export function emailView(mail: Mail): View {
  return { lines: (look) => emailLines(mail, look) };
}

function emailLines(mail: Mail, look: Look): string[] {
  const { subject, from = '', created_at: at, batch_id: id, messages } = mail;
  const about: Pair[] =
    subject === undefined || at === undefined
      ? []
      : [
          ['Subject', subject],
          ['From', from],
          ['Asked', timeText(at, look.now)],
        ];
  const next = nextPairs(mail).map(([name, text]): Pair => [name, look.typed(text)]);
  return [
    sentence(mail, look),
    '',
    ...pairLines(about, look),
    ...(about.length > 0 ? [''] : []),
    ...table(messages, ['to', ...copyColumn(messages), 'status', 'message_id'], look),
    ...errorLines(messages, look),
    '',
    ...(next.length > 0 ? pairLines(next, look) : [look.faint(safeLine(id))]),
  ];
}

/** Only a mail with copies has this column. */
function copyColumn(messages: readonly EmailMessage[]): string[] {
  return messages.some(({ copy }) => copy !== undefined) ? ['copy'] : [];
}

/** What to type next while the call is open. If it waits for a person, that comes first. */
function nextPairs({ status, request_id: request, batch_id: id }: Mail): Pair[] {
  const see = `svc email status ${id}`;
  if (status === 'queued') return [['Next', see]];
  if (status !== 'pending') return [];
  return [
    ['Next', `svc request watch ${request ?? ''}`],
    ['Then', see],
  ];
}

/** The status in one line. */
function sentence({ status, messages }: Mail, look: Look): string {
  switch (status) {
    case 'pending':
      return `${look.yellow('…')} Waiting for a person. Once approved, svc sends it automatically.`;
    case 'queued':
      return `${look.yellow('…')} Queued: ${countText(messages)}.`;
    case 'cancelled':
      return `${look.red('✗')} Cancelled: it wasn't approved, so nothing was sent.`;
    default: {
      const [first, ...others] = new Set(messages.map((message) => message.status));
      const isWell = first === 'sent' && others.length === 0;
      const word = others.length === 0 ? (first ?? 'sent') : 'done';
      const said = safeLine(word.slice(0, 1).toUpperCase() + word.slice(1));
      return `${look[isWell ? 'green' : 'red'](isWell ? '✓' : '✗')} ${said}: ${countText(messages)}.`;
    }
  }
}

/** `1 message`, or each outcome: `2 sent, 1 bounced`. */
function countText(messages: readonly EmailMessage[]): string {
  const counts = new Map<string, number>();
  for (const { status } of messages) {
    const name = safeLine(status);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  if (counts.size > 1) return [...counts].map(([name, count]) => `${count} ${name}`).join(', ');
  return pluralize(messages.length, 'message');
}

/** Why messages weren't sent; the text may come from a mail server. */
function errorLines(messages: readonly EmailMessage[], { columns }: Look): string[] {
  const lines = messages.flatMap(({ to, error }) => {
    if (!error) return [];
    const text = safeLine(`${to}: ${error.code}. ${error.message}`);
    return wrapText(text, Math.min(columns, WIDEST_TEXT));
  });
  return lines.length > 0 ? ['', ...lines] : [];
}
