import type { Client } from '@libsql/client/http';
import { LAST_GROUP_QUERY, POSITION_QUERY } from '../meta.ts';
import { RetryBudget } from './retry-budget.ts';
import { RemoteTransaction } from './transaction.ts';

interface CommitOutcome {
  readonly outcome: 'committed' | 'lost' | 'unknown';
  readonly position: number;
}

/**
 * What became of a group whose answer to COMMIT is lost. `base` is the position that it began with. What is
 * read in a transaction that may write, is read when the one in question is over.
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
      // As little can be told as before.
    } finally {
      await transaction.rollback();
    }
  } while (await budget.lasts());
  return { outcome: 'unknown', position: base };
}

function judge(position: number, isLast: boolean, base: number): CommitOutcome {
  if (isLast) return { outcome: 'committed', position };
  // One more than the base is the first commit after it, and that was another's.
  return { outcome: position <= base + 1 ? 'lost' : 'unknown', position };
}
