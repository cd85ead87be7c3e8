import type { AnswerOf } from '../../../../../shared/kernel/operation.ts';
import { channelList } from '../../../../../shared/operations/channel/list.ts';
import { ledgerQuery } from '../../../../../shared/operations/ledger/query.ts';
import { actorWords } from '../../../../../shared/rules/actor.ts';
import type { LedgerEntry } from '../../../../../shared/rules/ledger-chain.ts';
import { channelsOf } from '../people/channel-queries.ts';
import { keysOf } from '../keys/key-queries.ts';
import { membersOf } from '../people/member-queries.ts';
import type { PageContext } from '../../page-context.ts';
import { pageRead } from '../../page-read.ts';

/** An entry for a visitor, with the names of its keys and people. */
export interface EntryProps {
  readonly context: PageContext;
  readonly entry: LedgerEntry;
  readonly names: ReadonlyMap<string, string>;
}

/** Newest first. VALIDATION_FAILED. */
export function entriesOf(
  context: PageContext,
  input: Readonly<Record<string, unknown>>,
): Promise<AnswerOf<typeof ledgerQuery>> {
  return context.call(ledgerQuery, input);
}

/**
 * The names of keys, people and sources by id, as far as the visitor may see them. Has only the first page of keys; the
 * others appear by id.
 */
export async function namesOf(context: PageContext): Promise<ReadonlyMap<string, string>> {
  const { items: keys } = await keysOf(context);
  const channels = context.may(channelList) ? await channelsOf(context) : [];
  const members = await membersOf(context);
  const sources = await context.readOrNull(sourceNames, {});
  return new Map([
    ...keys.map(({ id, name }) => [id, name] as const),
    ...members.map(({ id, address }) => [id, address ?? id] as const),
    ...channels.map(({ id, label }) => [id, label] as const),
    ...(sources ?? []).map(({ id, name }) => [id, `source ${name}`] as const),
  ]);
}

const sourceNames = pageRead('inbox:read', {}, ({ store }) => store.sources.list());

/** What stands for the actor of entries from before it was recorded, unless a key did it. */
const NOT_RECORDED = 'not recorded';

const PLACES: ReadonlyMap<string | null, string> = new Map([
  ['web', 'in the web inbox'],
  ['link', 'by a link'],
  ['telegram', 'in Telegram'],
]);

/** The id of whoever did it: the actor, or the key in an entry from before actors were recorded. */
export function actorOf({ actor = null, key_id: key }: LedgerEntry): string | null {
  return actor ?? key;
}

/** Whether a person did it, at one of these places, and no agent with the key. */
export function isByHand({ platform }: LedgerEntry): boolean {
  return PLACES.has(platform);
}

/** Who did it, and for a person where, such as `Ana, in Telegram`. */
export function actorText(entry: LedgerEntry, names: EntryProps['names']): string {
  const id = actorOf(entry);
  if (id === null) return NOT_RECORDED;
  const name = actorWords(id) ?? names.get(id) ?? id;
  const place = PLACES.get(entry.platform);
  return place === undefined ? name : `${name}, ${place}`;
}

/** The same with what the agent says of itself, such as `claude on codex, key laptop`. */
export function doneBy(entry: LedgerEntry, names: EntryProps['names']): string {
  const { agent, platform } = entry;
  const id = actorOf(entry);
  if (!id?.startsWith('key_') || isByHand(entry)) return actorText(entry, names);
  const on = platform === null || platform === 'unknown' ? '' : ` on ${platform}`;
  const who = agent === null && on === '' ? [] : [(agent ?? 'an agent') + on];
  return [...who, `key ${names.get(id) ?? id}`].join(', ');
}
