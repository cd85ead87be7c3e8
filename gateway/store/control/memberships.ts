import type { Row, Tx, Writer } from '../../../shared/store/driver.ts';

/** A member of a project, by the address of their account. */
export interface MembershipRow extends Row {
  member_id: string;
  /** Sealed. */
  address: Uint8Array;
  /** Keyed, as that of an account. */
  address_hash: string;
}

/** In which projects people are members. The project's own database is what counts; these rows only find it. */
export class MembershipStore {
  readonly #writer: Writer;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  async add(projectId: string, row: MembershipRow): Promise<void> {
    await this.#writer.write((tx) => insert(tx, projectId, row));
  }

  /** Makes the rows of a project those of its members, and its account that of its owner, if they have one. */
  async replace(
    projectId: string,
    rows: readonly MembershipRow[],
    ownerHash: string | null,
  ): Promise<void> {
    await this.#writer.write(async (tx) => {
      // Those of a project that was just deleted would stay behind.
      if (!(await tx.get('SELECT 1 AS found FROM project WHERE id = ?', [projectId]))) return;
      await tx.put('DELETE FROM membership WHERE project_id = ?', [projectId]);
      for (const row of rows) await insert(tx, projectId, row);
      await tx.put(
        `UPDATE project SET account_id = (SELECT id FROM account WHERE address_hash = ?1)
         WHERE id = ?2 AND account_id IS NOT NULL AND EXISTS (SELECT 1 FROM account WHERE address_hash = ?1)`,
        [ownerHash, projectId],
      );
    });
  }
}

async function insert(tx: Tx, projectId: string, row: MembershipRow): Promise<void> {
  await tx.put(
    'INSERT INTO membership (project_id, member_id, address, address_hash) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET address = excluded.address, address_hash = excluded.address_hash',
    [projectId, row.member_id, row.address, row.address_hash],
  );
}
