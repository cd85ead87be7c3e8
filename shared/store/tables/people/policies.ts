import { contentSum, isSound, RowDamage } from '../../sums/content-sum.ts';
import type { Row, SqlValue, Tx } from '../../engine/driver.ts';
import type { SumColumn } from '../disk/kv.ts';

export interface PolicyRow extends Row {
  version: number;
  /** A JSON array. */
  rules: string;
  note: string | null;
  request_id: string | null;
  approved_by: string | null;
  approved_at: string;
}

/** What a policy's sum covers. */
export function policyFields(row: PolicyRow) {
  const { version, rules, note, request_id, approved_by, approved_at } = row;
  return [version, rules, note, request_id, approved_by, approved_at];
}

const SELECT = 'SELECT version, rules, note, request_id, approved_by, approved_at, sum FROM policy';

/** The policies of a project. The newest version is in force; version 0 means that there is no policy. */
export class PolicyRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  current(): Promise<PolicyRow | undefined> {
    return this.#one(`${SELECT} ORDER BY version DESC LIMIT 1`);
  }

  find(version: number): Promise<PolicyRow | undefined> {
    return this.#one(`${SELECT} WHERE version = ?`, [version]);
  }

  /** Throws a `RowDamage` if a policy no longer matches what was approved. */
  async #one(sql: string, params: readonly SqlValue[] = []): Promise<PolicyRow | undefined> {
    const row = await this.#tx.get<PolicyRow & SumColumn>(sql, params);
    if (row && !isSound(row.sum, policyFields(row))) throw new RowDamage(`policy ${row.version}`);
    return row;
  }

  async insert(row: PolicyRow): Promise<void> {
    await this.#tx.put(
      'INSERT INTO policy (version, rules, note, request_id, approved_by, approved_at, sum) VALUES (?, ?, ?, ?, ?, ?, ?)',
      [...policyFields(row), contentSum(policyFields(row))],
    );
  }
}
