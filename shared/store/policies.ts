import type { Row, Tx } from './driver.ts';

export interface PolicyRow extends Row {
  version: number;
  /** A JSON array. */
  rules: string;
  note: string | null;
  request_id: string | null;
  approved_by: string | null;
  approved_at: string;
}

/** The policies of a project. The newest version is in force; version 0 means that there is no policy. */
export class PolicyRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  current(): Promise<PolicyRow | undefined> {
    return this.#tx.get<PolicyRow>(
      'SELECT version, rules, note, request_id, approved_by, approved_at FROM policy ORDER BY version DESC LIMIT 1',
    );
  }

  find(version: number): Promise<PolicyRow | undefined> {
    return this.#tx.get<PolicyRow>(
      'SELECT version, rules, note, request_id, approved_by, approved_at FROM policy WHERE version = ?',
      [version],
    );
  }

  async insert(row: PolicyRow): Promise<void> {
    await this.#tx.put(
      'INSERT INTO policy (version, rules, note, request_id, approved_by, approved_at) VALUES (?, ?, ?, ?, ?, ?)',
      [row.version, row.rules, row.note, row.request_id, row.approved_by, row.approved_at],
    );
  }
}
