import type { Writer } from '../../../shared/store/engine/driver.ts';

/** Projects that are deleted, in the control database. */
export class DeletionStore {
  readonly #writer: Writer;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  /** From here on nobody finds the project, and a gateway that starts goes on deleting it. */
  async begin(projectId: string): Promise<void> {
    await this.#writer.write(async (tx) => {
      // Later only the address tells that the project had moved: '' if the operator gave none.
      await tx.put(
        `UPDATE project SET state = 'deleting',
           moved_to = CASE state WHEN 'moved' THEN coalesce(moved_to, '') ELSE moved_to END
         WHERE id = ? AND state <> 'reserved'`,
        [projectId],
      );
      // A project that nobody has marked as idle is looked at when a gateway starts.
      await tx.put('DELETE FROM project_rest WHERE project_id = ?', [projectId]);
      await tx.put('DELETE FROM project_work WHERE project_id = ?', [projectId]);
    });
  }

  /** Deletes all that is known of a project whose data is gone, which frees its slug. */
  async finish(projectId: string): Promise<void> {
    await this.#writer.write(async (tx) => {
      for (const table of [
        'project_rest',
        'project_work',
        'membership',
        'telegram_chat',
        'ui_link',
        'ui_session',
      ]) {
        await tx.put(`DELETE FROM ${table} WHERE project_id = ?`, [projectId]);
      }
      await tx.put("DELETE FROM project WHERE id = ? AND state = 'deleting'", [projectId]);
    });
  }
}
