import { parseExact } from '../../lib/exact-json.ts';
import { amountWarning } from '../../rules/policy/bound.ts';
import type { Repositories } from '../../store/repositories.ts';
import type { RequestRow } from '../../store/requests.ts';
import { compiledPolicy } from '../policy/proposal.ts';

/** Says so if the amount that the agent states, and the policy looks at, isn't the one that will be done. */
export async function amountWarnings(
  store: Repositories,
  { amount, bind }: Pick<RequestRow, 'amount' | 'bind'>,
): Promise<string[]> {
  if (amount === null || bind === null) return [];
  const { policy } = await compiledPolicy(store);
  const warning = amountWarning({ amount, bind: parseExact(bind) }, policy.amountPlaces);
  return warning === null ? [] : [warning];
}
