import type { Answer } from '../kernel/executor.ts';

/**
 * What an answer tells beside its value. `X-Service-Position` is the project's position after a write;
 * `X-Service-Replica-Age` the seconds since the replica that answered was known to have everything, and
 * `X-Service-Stale: true` stands beside it while the gateway cannot be reached.
 */
export function markHeaders({ position, replica }: Answer): Record<string, string> {
  return {
    ...(position !== undefined && { 'X-Service-Position': String(position) }),
    ...(replica && { 'X-Service-Replica-Age': (replica.ageMs / 1000).toFixed(3) }),
    ...(replica?.stale && { 'X-Service-Stale': 'true' }),
  };
}

/** The same in words, for people and models. Such an answer was true so many seconds ago. */
export function staleNote(ageSeconds: number): string {
  return `The gateway didn't answer: this is what the copy on this machine knew ${Math.round(ageSeconds)} s ago.`;
}

/** The same for the `_meta` of an MCP result. */
export function markMeta({ position, replica }: Answer): Record<string, unknown> {
  return {
    ...(position !== undefined && { 'svc/position': position }),
    ...(replica && { 'svc/replica': replica }),
  };
}
