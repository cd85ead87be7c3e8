import type { RequestState } from './decision.ts';

/** Who has approved a request that needs several people. */
interface Quorum {
  /** `1 of 2` */
  readonly progress: string;
  readonly given: readonly { readonly channel_id: string; readonly at: string }[];
}

/** Null for a request that one person decides. */
export function quorumOf({ approvals }: Pick<RequestState, 'approvals'>): Quorum | null {
  if (!approvals || approvals.needed < 2) return null;
  const { needed, given } = approvals;
  return { progress: `${given.length} of ${needed}`, given };
}
