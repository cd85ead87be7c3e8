import { isObject } from '../../shared/lib/guards.ts';
import type { CommandContext } from '../command.ts';

type Giving = Pick<CommandContext, 'client' | 'undoIfLost'>;

/** Events that were claimed for a reader of standard output who is gone by now are pending again, and count no failure. */
export function giveBackIfLost({ client, undoIfLost }: Giving, events: readonly unknown[]): void {
  for (const event of events) {
    if (!isObject(event) || typeof event['lease_id'] !== 'string') continue;
    const { id: event_id, lease_id } = event;
    const body = { event_id, lease_id, until: ['now'] };
    const headers = { 'idempotency-key': crypto.randomUUID() };
    undoIfLost(() => client().call('POST', '/v1/inbox/nack', { body, headers }));
  }
}
