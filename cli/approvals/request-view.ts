import { stringifyExact } from '../../shared/lib/json/exact-json.ts';
import type { Request } from '../call/answers.ts';
import type { View } from '../view/output.ts';
import { pairLines, type Pair } from '../view/pairs.ts';
import { age, type Look } from '../view/table.ts';
import { safeLine, wrapNote } from '../view/terminal-text.ts';
import { typedNames } from '../view/typed-names.ts';
import { indented } from './answer-view.ts';
import { quorumOf } from './quorum.ts';
import { decisionMark, decisionSentence, endingOf, withdrawalOf, type Names } from './decision.ts';

/** Everything known about a request. */
export function requestView(record: Request, names: Names): View {
  return { lines: (look) => requestLines(record, names, look) };
}

function requestLines(record: Request, names: Names, look: Look): string[] {
  const { decided_at: at, request_id: id, hint, status } = record;
  const when = at === null ? '' : look.faint(` (${age(at, look.now)})`);
  const next: Pair[] = [['Next', look.typed(`svc request watch ${id}`)]];
  const isAdvice = status !== 'pending' && withdrawalOf(record) === null && hint !== null;
  return [
    `${decisionMark(record, look)} ${decisionSentence(record, names)}${when}`,
    ...(isAdvice
      ? wrapNote(`  ${endingOf(record) ?? safeLine(look.typed(typedNames(hint)))}`, look.columns)
      : []),
    '',
    ...pairLines(
      [
        ...subjectPairs(record),
        ...originPairs(record, names, look),
        ...(status === 'pending' ? next : []),
      ],
      look,
    ),
    ...detailLines(record, look),
  ];
}

/** What was asked. */
function subjectPairs(record: Request): Pair[] {
  const { kind, action, summary, question, amount, warnings, bind, risk, options } = record;
  return filled([
    ['Request', record.request_id],
    ['Event', record.event_id],
    ['Kind', kind.replaceAll('_', ' ')],
    ['Action', action],
    [question === null ? 'Summary' : 'Question', question ?? summary],
    ['Amount', amount === null ? null : String(amount)],
    ['Bound', bind === null || bind === undefined ? null : stringifyExact(bind)],
    ['Check', warnings?.join(' ')],
    ['Risk', risk],
    ['Options', options.join(', ')],
  ]);
}

/** Who asked whom, and until when. */
function originPairs(record: Request, names: Names, { now }: Look): Pair[] {
  const { requested_by: by, created_at: at, expires_at: expires, status, rule } = record;
  return filled([
    ['Asked by', `${askerText(by)}, ${age(at, now)}`],
    ['Asked', askedText(record, names)],
    ['Approved', approvedText(record, names, now)],
    ['Expires', status === 'pending' ? age(expires, now) : null],
    ['Policy', rule === null ? null : `rule ${rule} of version ${record.policy_version}`],
    ['State', record.state_ref],
    ['Callback', record.callback_url],
  ]);
}

/** `billing-bot on claude-code` */
function askerText({ agent, platform }: Request['requested_by']): string {
  const name = agent ?? 'an unnamed agent';
  return platform === 'unknown' ? name : `${name} on ${platform}`;
}

/** `owner (email), ops (telegram, failed)` */
function askedText({ approvers, notified }: Request, names: Names): string {
  return approvers
    .map((id) => {
      const notice = notified.find(({ channel_id: channel }) => channel === id);
      return `${names.get(id) ?? id}${notice ? ` (${noticeText(notice)})` : ''}`;
    })
    .join(', ');
}

/** How someone was asked, and whether that failed. A message in the local outbox counts as sent, so `sent` isn't shown. */
function noticeText({ kind, status }: Request['notified'][number]): string {
  return status === 'sent' ? kind : `${kind}, ${status}`;
}

/** `1 of 2: ana, 3 min ago` */
function approvedText(record: Request, names: Names, now: number): string | null {
  const quorum = quorumOf(record);
  if (!quorum) return null;
  const { progress, given } = quorum;
  const votes = given.map(({ channel_id: id, at }) => `${names.get(id) ?? id}, ${age(at, now)}`);
  return votes.length === 0 ? progress : `${progress}: ${votes.join('; ')}`;
}

function filled(pairs: readonly (readonly [string, string | null | undefined])[]): Pair[] {
  return pairs.flatMap(([name, value]): Pair[] => (value ? [[name, value]] : []));
}

/** The agent's own words, under a heading that says so. */
function detailLines({ details }: Request, look: Look): string[] {
  if (details === null) return [];
  return ['', look.bold('Details (written by the agent)'), ...indented(details)];
}
