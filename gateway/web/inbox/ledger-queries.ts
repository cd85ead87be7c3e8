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

/** An entry for a visitor, with the names of its keys and people. */
export interface EntryProps {
  readonly context: PageContext;
  readonly entry: LedgerEntry;
  readonly names: ReadonlyMap<string, string>;
}

/** Newest first. VALIDATION_FAILED. */
export async function entriesOf(
  context: PageContext,
  input: Readonly<Record<string, unknown>>,
): Promise<Listed> {
  return (await context.call(ledgerQuery, input)) as Listed;
}

/**
 * The names of keys and people by id, as far as the visitor may see them. Has only the first page of keys; the others
 * appear by id.
 */
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
