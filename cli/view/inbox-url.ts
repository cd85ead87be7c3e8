import type { DaemonStatus } from '../../daemon/record.ts';

/** The web inbox's address. A daemon that replicates a gateway's project has no pages of its own. */
export function inboxUrl({
  gateway,
  base_url,
}: Pick<DaemonStatus, 'gateway' | 'base_url'>): string {
  return `${gateway ?? base_url}/ui`;
}
