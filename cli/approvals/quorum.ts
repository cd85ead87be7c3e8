import { isObject } from '../../shared/lib/guards.ts';
import { plainText } from '../view/terminal-text.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Who has approved a request that needs several people. */
interface Quorum {
  /** `1 of 2` */
  readonly progress: string;
  readonly given: readonly { readonly channelId: string; readonly at: string }[];
}

/** Null for a request that one person decides. */
export function quorumOf({ approvals }: Fields): Quorum | null {
  if (!isObject(approvals) || !(Number(approvals['needed']) > 1)) return null;
  const votes = Array.isArray(approvals['given']) ? approvals['given'].filter(isObject) : [];
  return {
    progress: `${votes.length} of ${plainText(approvals['needed'])}`,
    given: votes.map(({ channel_id: id, at }) => ({ channelId: plainText(id), at: plainText(at) })),
  };
}
