import { pluralize } from '../../shared/lib/pluralize.ts';
import type { DigestItem, Notification, RequestKind } from '../approvals/approvals.ts';
import {
  messageBody,
  nameText,
  reachedBy,
  subjectOf,
  summaryLines,
  timeText,
  type MessageText,
} from './messages.ts';

/** The page of the web inbox lists them all. */
const LISTED_MAX = 50;

const NOUNS: Readonly<Record<RequestKind, string>> = {
  approval: 'Approval',
  question: 'Question',
  policy: 'Policy change',
  file_url: 'Public link',
  email_send: 'Email',
  channel: 'New approver',
  member: 'Member',
};

/** One mail in place of many: what a key asked since it used up the mails that it may send at once. */
export function digestMessage(
  { project, channel, keyName, items }: Extract<Notification, { kind: 'digest' }>,
  { inboxUrl, linkOf }: { readonly inboxUrl: string; readonly linkOf: (token: string) => string },
): MessageText {
  const asks = urgentFirst(items.filter(({ kind }) => kind === 'ask'));
  const tells = items.filter(({ kind }) => kind === 'tell');
  const key = nameText(keyName);
  const [count, more, waits] =
    asks.length === 0
      ? [tells.length, 'notification', '']
      : [asks.length, 'more request', asks.length === 1 ? ' waits for you' : ' wait for you'];
  const what = pluralize(count, more);
  return {
    subject: subjectOf(project, what + waits),
    text: messageBody([
      [`${what} from key ${key}${waits}.`],
      ['This is one email instead of many, because the key sends many or you muted it.'],
      ...(asks.length === 0 ? [] : [['See them all in the web inbox:'], [inboxUrl]]),
      ...asks.slice(0, LISTED_MAX).flatMap((item) => askLines(item, linkOf)),
      ...(asks.length > LISTED_MAX ? [[`And ${asks.length - LISTED_MAX} more.`]] : []),
      ...(tells.length === 0 ? [] : [['For your information, nothing to do:']]),
      ...tells.slice(0, LISTED_MAX).map(tellLines),
      ...(tells.length > LISTED_MAX ? [[`And ${tells.length - LISTED_MAX} more.`]] : []),
      [
        'The agent wrote the lines after ">". Opening a page decides nothing; its buttons',
        "do. Anyone with a link can decide in your name, so don't forward this email.",
        "We don't read replies.",
      ],
      [`Too many? Mute the key for an hour on any of these pages, or revoke key ${key}.`],
      [reachedBy(channel.label, project)],
    ]),
  };
}

function askLines({ opened, token }: DigestItem, linkOf: (token: string) => string): string[][] {
  const { kind, expiresAt, risk } = opened.request;
  const risky = risk === 'high' ? ', high risk' : '';
  return [
    [`${NOUNS[kind]}${risky}, expires ${timeText(expiresAt)}:`, ...summaryLines(opened.request)],
    ...(token === null ? [] : [[linkOf(token)]]),
  ];
}

function tellLines({ opened: { request } }: DigestItem): string[] {
  const words =
    request.outcome === null ? request.status : `${request.status}, ${request.outcome.kind}`;
  return [`${NOUNS[request.kind]}, ${words}:`, ...summaryLines(request)];
}

function urgentFirst(items: readonly DigestItem[]): DigestItem[] {
  return [...items.filter(isHigh), ...items.filter((item) => !isHigh(item))];
}

function isHigh({ opened }: DigestItem): boolean {
  return opened.request.risk === 'high';
}
