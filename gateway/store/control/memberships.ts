import type { Reader, Row, Tx, Writer } from '../../../shared/store/engine/driver.ts';

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
  readonly #reader: Reader;
  readonly #writer: Writer;

  constructor(reader: Reader, writer: Writer) {
    this.#reader = reader;
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
    // Every opening of a project comes here, nearly always for nothing.
    if (await this.#reader.read((tx) => isSame(tx, projectId, { rows, ownerHash }))) return;
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

async function isSame(
  tx: Tx,
  projectId: string,
  {
    rows,
    ownerHash,
  }: { readonly rows: readonly MembershipRow[]; readonly ownerHash: string | null },
): Promise<boolean> {
  const known = await tx.all<{ name: string }>(
    "SELECT member_id || ' ' || address_hash AS name FROM membership WHERE project_id = ?",
    [projectId],
  );
  const names = rows.map(({ member_id, address_hash }) => `${member_id} ${address_hash}`);
  if (
    known
      .map(({ name }) => name)
      .toSorted()
      .join() !== names.toSorted().join()
  )
    return false;
  const another = await tx.get(
    `SELECT 1 AS found FROM project JOIN account ON account.address_hash = ?1
     WHERE project.id = ?2 AND account_id IS NOT NULL AND account_id <> account.id`,
    [ownerHash, projectId],
  );
  return another === undefined;
}

async function insert(tx: Tx, projectId: string, row: MembershipRow): Promise<void> {
  await tx.put(
    'INSERT INTO membership (project_id, member_id, address, address_hash) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET address = excluded.address, address_hash = excluded.address_hash',
    [projectId, row.member_id, row.address, row.address_hash],
  );
}
