import * as z from 'zod';
import type { Envelope } from '../../kernel/envelope.ts';

export const leftOut = z.string().optional().describe('How to get left-out payloads.');

const HINT =
  'Payloads over 8 KB are left out. inbox_get returns one to a key with inbox:write, and inbox_claim takes the event too.';

/** The hint, if an event lacks its payload because of its size. */
export function leftOutHint(events: readonly (Envelope | null)[]): { hint?: string } {
  return events.some((event) => event?.payload_truncated === true) ? { hint: HINT } : {};
}
