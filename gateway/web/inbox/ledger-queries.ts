import { channelList } from '../../../shared/operations/channel/list.ts';
import { ledgerQuery } from '../../../shared/operations/ledger/query.ts';
import type { LedgerEntry } from '../../../shared/rules/ledger-chain.ts';
import { mayCall } from '../../../shared/lib/scopes.ts';
import { channelsOf } from './channel-queries.ts';
import { keysOf } from './key-queries.ts';
import type { PageContext } from './page-context.ts';

interface Listed {
  readonly items: readonly LedgerEntry[];
  readonly next_cursor: number | null;
}

/** An entry for whoever visits, and what its keys and people are called. */
export interface EntryProps {
  readonly context: PageContext;
  readonly entry: LedgerEntry;
  readonly names: ReadonlyMap<string, string>;
}

/** The newest first. VALIDATION_FAILED. */
export async function entriesOf(
  context: PageContext,
  input: Readonly<Record<string, unknown>>,
): Promise<Listed> {
  return (await context.call(ledgerQuery, input)) as Listed;
}

/** What keys and people are called, by their ids, as far as whoever looks may know. Those of a long list have their ids alone. */
export async function namesOf(context: PageContext): Promise<ReadonlyMap<string, string>> {
  const { items } = await keysOf(context);
  const channels = mayCall(context.access.scopes, channelList.scope)
    ? await channelsOf(context)
    : [];
  return new Map([
    ...items.map(({ id, name }) => [id, name] as const),
    ...channels.map(({ id, label }) => [id, label] as const),
  ]);
}
