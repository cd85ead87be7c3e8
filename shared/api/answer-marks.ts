import type { Answer } from '../kernel/executor.ts';
import type { ServiceError } from '../lib/errors.ts';

/** Sent as `true` if an earlier call under the same Idempotency-Key made the write; Stripe's API names it so. */
export const REPLAYED_HEADER = 'Idempotent-Replayed';

/**
 * The headers that describe an answer. `X-Service-Position`: the project's position after a write.
 * `X-Service-Replica-Age`: the seconds since the answering replica last had everything. `X-Service-Stale: true`: also
 * sent while the gateway can't be reached.
 */
export function markHeaders({ position, replayed, replica }: Answer): Record<string, string> {
  return {
    ...(position !== undefined && { 'X-Service-Position': String(position) }),
    ...(replayed && { [REPLAYED_HEADER]: 'true' }),
    ...(replica && { 'X-Service-Replica-Age': (replica.ageMs / 1000).toFixed(3) }),
    ...(replica?.stale && { 'X-Service-Stale': 'true' }),
  };
}

/** Whether a refusal comes from a copy that misses what's new. */
export function isOfOldCopy(error: ServiceError): boolean {
  return error.headers()['X-Service-Stale'] === 'true';
}

/** The replica's age in words, for people and models. */
export function staleNote(ageSeconds: number): string {
  return `The gateway didn't answer: this is what the copy on this machine knew ${Math.round(ageSeconds)} s ago.`;
}

/** The same marks for the `_meta` of an MCP result. */
export function markMeta({ position, replayed, replica }: Answer): Record<string, unknown> {
  return {
    ...(position !== undefined && { 'svc/position': position }),
    ...(replayed && { 'svc/replayed': true }),
    ...(replica && { 'svc/replica': replica }),
  };
}
