import { parseExact } from '../../lib/json/exact-json.ts';
import { amountWarning } from '../../rules/policy/bound.ts';
import { amountPlaces } from '../../rules/policy/decide.ts';
import type { PolicyRisk } from '../../rules/policy/document.ts';
import type { Repositories } from '../../store/repositories.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';
import { compiledPolicy } from '../policy/proposal.ts';

/** Says so if the amount that the agent states, and the policy looks at, isn't the one that will be done. */
export async function amountWarnings(
  store: Repositories,
  row: Pick<RequestRow, 'action' | 'amount' | 'bind' | 'risk'>,
): Promise<string[]> {
  if (row.amount === null || row.bind === null) return [];
  const { policy } = await compiledPolicy(store);
  const subject = {
    tool: 'ask_approval',
    action: row.action,
    amount: row.amount,
    bind: parseExact(row.bind),
    risk: row.risk as PolicyRisk | null,
    recipientDomains: null,
  } as const;
  const warning = amountWarning(subject, amountPlaces(policy, subject));
  return warning === null ? [] : [warning];
}
