import { isoTime } from '../../lib/clock.ts';
import { PAYLOAD_RETENTION_MS } from '../../lib/limits.ts';

/**
 * The retention limit: nobody sees payloads that arrived before it, or logs of deliveries created before it, even if
 * they aren't deleted yet.
 */
export function keptSince(now: number): string {
  return isoTime(now - PAYLOAD_RETENTION_MS);
}
