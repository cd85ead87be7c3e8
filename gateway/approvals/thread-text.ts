import type { RequestView } from './approvals.ts';

/** Such as `3 asked, 2 allowed`. */
export function threadCounts({ asked, allowed }: NonNullable<RequestView['thread']>): string {
  return `${asked} asked, ${allowed} allowed`;
}
