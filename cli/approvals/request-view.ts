import { stringifyExact } from '../../shared/lib/json/exact-json.ts';
import { isObject } from '../../shared/lib/guards.ts';
import type { View } from '../view/output.ts';
import { pairLines, type Pair } from '../view/pairs.ts';
import { age, type Look } from '../view/table.ts';
import { plainText, safeLine } from '../view/terminal-text.ts';
import { typedNames } from '../view/typed-names.ts';
import { indented } from './answer-view.ts';
import { quorumOf } from './quorum.ts';
import {
  decisionMark,
  decisionSentence,
  withdrawalOf,
  type Asked,
  type Names,
} from './decision.ts';

/** Everything known about a request. */
export function requestView(record: unknown, names: Names): View {
  if (!isObject(record) || typeof record['status'] !== 'string') return {};
  return { lines: (look) => requestLines(record, names, look) };
}

/** The channels whose names the view shows. */
export function channelsIn(record: unknown): string[] {
  const approvers = isObject(record) ? record['approvers'] : null;
  return Array.isArray(approvers) ? approvers.map(String) : [];
}

function requestLines(record: Asked, names: Names, look: Look): string[] {
  const { decided_at: at, request_id: id, hint, status } = record;
  const when = typeof at === 'string' ? look.faint(` (${age(at, look.now)})`) : '';
  const watch = look.typed(`svc request watch ${plainText(id)}`);
  const next: Pair[] = status === 'pending' ? [['Next', watch]] : [];
  const isAdvice = status !== 'pending' && withdrawalOf(record) === null;
  const advice =
    isAdvice && typeof hint === 'string' ? [`  ${safeLine(look.typed(typedNames(hint)))}`] : [];
  return [
    `${decisionMark(record, look)} ${decisionSentence(record, names)}${when}`,
    ...advice,
    '',
    ...pairLines([...subjectPairs(record), ...originPairs(record, names, look), ...next], look),
    ...detailLines(record, look),
  ];
}

/** What was asked. */
function subjectPairs(record: Asked): Pair[] {
  const { kind, action, summary, question, amount, warnings, bind, risk, options } = record;
  const choices = Array.isArray(options) ? options.map(plainText).join(', ') : '';
  return filled([
    ['Request', record['request_id']],
    ['Event', record['event_id']],
    ['Kind', typeof kind === 'string' ? kind.replaceAll('_', ' ') : kind],
    ['Action', action],
    [question === null ? 'Summary' : 'Question', question ?? summary],
    ['Amount', amount],
    ['Bound', bind === null || bind === undefined ? null : stringifyExact(bind)],
    ['Check', Array.isArray(warnings) ? warnings.map(plainText).join(' ') : null],
    ['Risk', risk],
    ['Options', choices],
  ]);
}

/** Who asked whom, and until when. */
function originPairs(record: Asked, names: Names, { now }: Look): Pair[] {
  const { requested_by: by, created_at: at, expires_at: expires, status, rule } = record;
  const asker = isObject(by) ? askerText(by) : 'unknown';
  const version = plainText(record['policy_version'] ?? 0);
  return filled([
    ['Asked by', typeof at === 'string' ? `${asker}, ${age(at, now)}` : asker],
    ['Asked', askedText(record, names)],
    ['Approved', approvedText(record, names, now)],
    ['Expires', status === 'pending' && typeof expires === 'string' ? age(expires, now) : null],
    ['Policy', typeof rule === 'string' ? `rule ${rule} of version ${version}` : null],
    ['State', record['state_ref']],
    ['Callback', record['callback_url']],
  ]);
}

/** `billing-bot on claude-code` */
function askerText({ agent, platform }: Asked): string {
  const name = typeof agent === 'string' ? agent : 'an unnamed agent';
  return platform === 'unknown' ? name : `${name} on ${plainText(platform)}`;
}

/** `owner (email), ops (telegram, failed)` */
function askedText({ approvers, notified }: Asked, names: Names): string {
  const notices = (Array.isArray(notified) ? notified : []).filter(isObject);
  const ids = Array.isArray(approvers) ? approvers.map(String) : [];
  return ids
    .map((id) => {
      const notice = notices.find(({ channel_id: channel }) => channel === id);
      return `${names.get(id) ?? id}${notice ? ` (${noticeText(notice)})` : ''}`;
    })
    .join(', ');
}

/** How someone was asked, and whether that failed. A message in the local outbox counts as sent, so `sent` isn't shown. */
function noticeText({ kind, status }: Asked): string {
  return status === 'sent' ? plainText(kind) : `${plainText(kind)}, ${plainText(status)}`;
}

/** `1 of 2: ana, 3 min ago` */
function approvedText(record: Asked, names: Names, now: number): string | null {
  const quorum = quorumOf(record);
  if (!quorum) return null;
  const { progress, given } = quorum;
  const votes = given.map(
    ({ channelId, at }) => `${names.get(channelId) ?? channelId}, ${age(at, now)}`,
  );
  return votes.length === 0 ? progress : `${progress}: ${votes.join('; ')}`;
}

function filled(pairs: readonly (readonly [string, unknown])[]): Pair[] {
  return pairs
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([name, value]) => [name, plainText(value)]);
}

/** The agent's own words, under a heading that says so. */
function detailLines({ details }: Asked, look: Look): string[] {
  if (typeof details !== 'string') return [];
  return ['', look.bold('Details (written by the agent)'), ...indented(details)];
}
