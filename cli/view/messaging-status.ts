import type { MessagingStatus } from '../../daemon/record.ts';
import type { Pair } from './pairs.ts';
import type { Look } from './table.ts';
import { safeLine, wrapText } from './terminal-text.ts';
import { pluralize } from '../../shared/lib/pluralize.ts';

const WIDEST_TEXT = 96;

/** Who decides, and where svc asks them. */
export function messagingPairs(people: MessagingStatus): Pair[] {
  return [
    ['Decisions', decisionsText(people)],
    ['Owner', people.owner ?? 'not set (svc up --owner EMAIL)'],
    ...troublePairs(people),
  ];
}

function troublePairs({ telegram_trouble: trouble }: MessagingStatus): Pair[] {
  return trouble ? [['Telegram', `doesn't work: ${safeLine(trouble)}`]] : [];
}

/** Where svc asks people for decisions, in plain words. */
function decisionsText(people: MessagingStatus): string {
  const places = [mailText(people), telegramText(people)].filter((place) => place !== null);
  return places.length === 0 ? 'nobody to ask yet' : `asked for ${places.join(' and ')}`;
}

function mailText({ mail, owner, active_email: count }: MessagingStatus): string | null {
  if (mail === 'outbox') return 'in the local outbox (svc outbox open)';
  const others = owner === null ? count - 1 : count;
  if (owner === null && others <= 0) return null;
  if (owner === null) return `by mail to ${addresses(others)}`;
  return others > 1 ? `by mail to ${owner} and ${addresses(others - 1)}` : `by mail to ${owner}`;
}

function addresses(count: number): string {
  return pluralize(count, 'other address', 'other addresses');
}

function telegramText({ telegram, active_telegram: chats }: MessagingStatus): string | null {
  if (!telegram || chats === 0) return null;
  return chats === 1 ? 'by Telegram' : `by Telegram in ${chats} chats`;
}

/** Each piece of advice as its own paragraph. */
export function adviceLines(advice: readonly string[], look: Look): string[] {
  const width = Math.min(look.columns, WIDEST_TEXT);
  return advice.flatMap((text) => [
    '',
    ...wrapText(look.typed(text), width).map((line) => look.faint(line)),
  ]);
}

/** What the user should know or do about it. */
export function messagingAdvice({
  mail,
  owner,
  telegram,
  active_telegram: chats,
}: MessagingStatus): string[] {
  const advice: string[] = [];
  if (mail === 'outbox') {
    advice.push(
      'An agent running as your user could read the outbox and decide for you. To prevent that, send real mail (SVC_SMTP_URL) or use Telegram.',
    );
  } else if (owner === null) {
    advice.push('The mail server is set, but the owner has no address: svc up --owner EMAIL');
  }
  if (telegram && chats === 0) {
    advice.push('Your Telegram bot is ready. Connect someone with: svc channel add telegram');
  }
  return advice;
}
