import { isoTime } from '../lib/clock.ts';
import { PAYLOAD_RETENTION_MS } from '../lib/limits.ts';

/** Payloads that came before this, and logs of deliveries that began before it, are shown to nobody, deleted or not. */
export function keptSince(now: number): string {
  return isoTime(now - PAYLOAD_RETENTION_MS);
}
