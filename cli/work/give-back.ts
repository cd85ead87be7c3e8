import type { ClaimedEvent } from '../../clients/typescript/generated/types.ts';
import type { CommandContext } from '../command.ts';

type Giving = Pick<CommandContext, 'client' | 'undoIfLost'>;

/** Events that were claimed for a reader of standard output who is gone by now are pending again, and count no failure. */
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
