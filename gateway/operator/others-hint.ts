import { pluralize } from '../../shared/lib/pluralize.ts';

/** What to do about other gateways that share the store. */
export function othersHint(others: number): string {
  const who = pluralize(others, 'other gateway uses', 'other gateways use');
  return `${who} this store and wouldn't notice. Stop all but one first, and start them again afterwards. A killed gateway still counts for 15 seconds.`;
}
