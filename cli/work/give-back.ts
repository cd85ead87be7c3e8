import type { ClaimedEvent } from '../../clients/typescript/generated/types.ts';
import type { CommandContext } from '../command.ts';

type Giving = Pick<CommandContext, 'client' | 'undoIfLost'>;

/**
 * Returns events that were claimed for a reader of standard output who has left. They're pending again, and no failure
 * is counted.
 */
export function giveBackIfLost(
  { client, undoIfLost }: Giving,
  events: readonly ClaimedEvent[],
): void {
  for (const { id: event_id, lease_id } of events) {
    const input = { event_id, lease_id, until: ['now'] };
    const headers = { 'idempotency-key': crypto.randomUUID() };
    undoIfLost(() => client().call('inbox_nack', input, { headers }));
  }
}
