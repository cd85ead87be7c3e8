import type { Client } from '@libsql/client/http';
import { LAST_GROUP_QUERY, POSITION_QUERY } from '../meta.ts';
import { RetryBudget } from './retry-budget.ts';
import { RemoteTransaction } from './transaction.ts';

interface CommitOutcome {
  readonly outcome: 'committed' | 'lost' | 'unknown';
  readonly position: number;
}

/**
 * Finds out whether a group was committed if the answer to COMMIT got lost. `base` is the position before the group. A
 * write transaction can read only after the transaction in question is over.
 */
export async function commitOutcome(
  client: Client,
  { token, base }: { readonly token: string; readonly base: number },
): Promise<CommitOutcome> {
  const budget = new RetryBudget();
  do {
    const transaction = new RemoteTransaction(client, 'write');
    try {
      const [position, last] = await Promise.all([
        transaction.ask(POSITION_QUERY),
        transaction.ask(LAST_GROUP_QUERY),
      ]);
      return judge(Number(position.rows[0]?.['value']), last.rows[0]?.['value'] === token, base);
    } catch {
      // We still don't know; try again.
    } finally {
      await transaction.rollback();
    }
  } while (await budget.lasts());
  return { outcome: 'unknown', position: base };
}

function judge(position: number, isLast: boolean, base: number): CommitOutcome {
  if (isLast) return { outcome: 'committed', position };
  // If the position is base + 1, the first commit after `base` was another group's.
  return { outcome: position <= base + 1 ? 'lost' : 'unknown', position };
}
