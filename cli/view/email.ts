import { isObject } from '../../shared/lib/guards.ts';
import type { View } from './output.ts';
import { pairLines, type Pair } from './pairs.ts';
import { table, timeText, type Look } from './table.ts';
import { plainText, safeLine, wrapText } from './terminal-text.ts';
import { pluralize } from '../../shared/lib/pluralize.ts';

type Fields = Readonly<Record<string, unknown>>;

const WIDEST_TEXT = 96;

/** A call that sends mail: its status, its messages and what to type next. */
export function emailView(answer: unknown): View {
  if (!isObject(answer) || !Array.isArray(answer['messages'])) return {};
  const messages: readonly unknown[] = answer['messages'];
  return { lines: (look) => emailLines(answer, messages.filter(isObject), look) };
}

function emailLines(answer: Fields, messages: readonly Fields[], look: Look): string[] {
  const { subject, from, created_at: at, batch_id: id, status } = answer;
  const about: Pair[] =
    typeof subject === 'string' && typeof at === 'string'
      ? [
          ['Subject', subject],
          ['From', plainText(from)],
          ['Asked', timeText(at, look.now)],
        ]
      : [];
  const next = nextPairs(answer).map(([name, text]): Pair => [name, look.typed(text)]);
  return [
    sentence(status, messages, look),
    '',
    ...pairLines(about, look),
    ...(about.length > 0 ? [''] : []),
    ...table(messages, ['to', ...copyColumn(messages), 'status', 'message_id'], look),
    ...errorLines(messages, look),
    '',
    ...(next.length > 0 ? pairLines(next, look) : [look.faint(safeLine(plainText(id)))]),
  ];
}

/** Only a mail with copies has this column. */
function copyColumn(messages: readonly Fields[]): string[] {
  return messages.some(({ copy }) => copy !== undefined) ? ['copy'] : [];
}

/** What to type next while the call is open. If it waits for a person, that comes first. */
function nextPairs({ status, request_id: request, batch_id: id }: Fields): Pair[] {
  const see = `svc email status ${plainText(id)}`;
  if (status === 'queued') return [['Next', see]];
  if (status !== 'pending') return [];
  return [
    ['Next', `svc request watch ${plainText(request)}`],
    ['Then', see],
  ];
}

/** The status in one line. */
function sentence(status: unknown, messages: readonly Fields[], look: Look): string {
  switch (status) {
    case 'pending':
      return `${look.yellow('…')} Waiting for a person. Once approved, svc sends it automatically.`;
    case 'queued':
      return `${look.yellow('…')} Queued: ${countText(messages)}.`;
    case 'cancelled':
      return `${look.red('✗')} Cancelled: it wasn't approved, so nothing was sent.`;
    default: {
      const [first, ...others] = new Set(messages.map((message) => message['status']));
      const isWell = first === 'sent' && others.length === 0;
      const word = others.length === 0 ? plainText(first ?? 'sent') : 'done';
      const said = safeLine(word.slice(0, 1).toUpperCase() + word.slice(1));
      return `${look[isWell ? 'green' : 'red'](isWell ? '✓' : '✗')} ${said}: ${countText(messages)}.`;
    }
  }
}

/** `1 message`, or each outcome: `2 sent, 1 bounced`. */
function countText(messages: readonly Fields[]): string {
  const counts = new Map<string, number>();
  for (const { status } of messages) {
    const name = safeLine(plainText(status));
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  if (counts.size > 1) return [...counts].map(([name, count]) => `${count} ${name}`).join(', ');
  return pluralize(messages.length, 'message');
}

/** Why messages weren't sent; the text may come from a mail server. */
function errorLines(messages: readonly Fields[], { columns }: Look): string[] {
  const lines = messages.flatMap(({ to, error }) => {
    if (!isObject(error)) return [];
    const text = `${plainText(to)}: ${plainText(error['code'])}. ${plainText(error['message'])}`;
    return wrapText(safeLine(text), Math.min(columns, WIDEST_TEXT));
  });
  return lines.length > 0 ? ['', ...lines] : [];
}
