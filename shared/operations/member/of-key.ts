import type { Caller } from '../../kernel/context.ts';
import type { MemberRow } from '../../store/tables/access/members.ts';
import type { Repositories } from '../../store/repositories.ts';
import { memberNamed } from '../access/actor.ts';

/** Keys make keys: a longer line than this can't come about with the limit of active keys. */
const LINE_MAX = 1000;

/** The member behind a call: whose session it is, or whose key, or whose key made the key. */
export async function memberBehind(
  { members, keys }: Pick<Repositories, 'members' | 'keys'>,
  { keyId, member }: Pick<Caller, 'keyId'> & Partial<Pick<Caller, 'member'>>,
): Promise<MemberRow | undefined> {
  if (member) return members.find(member.id);
  let maker: string | null = keyId;
  for (let step = 0; maker !== null && step < LINE_MAX; step += 1) {
    if (!maker.startsWith('key_')) return memberNamed(members, maker);
    maker = (await keys.find(maker))?.created_by ?? null;
  }
  return undefined;
}
