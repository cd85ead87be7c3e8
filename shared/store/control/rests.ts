import type { Reader, Row, Writer } from '../driver.ts';

interface RestRow extends Row {
  project_id: string;
  next_due_at: number | null;
}

/**
 * Which projects were closed with nothing left under way, and when something falls due in each of them next. One that is
 * not here has to be opened to be known.
 */
export class RestStore {
  readonly #reader: Reader;
  readonly #writer: Writer;

  constructor(reader: Reader, writer: Writer) {
    this.#reader = reader;
    this.#writer = writer;
  }

  /** The next due time in milliseconds by project, null where nothing will fall due. */
  async all(): Promise<Map<string, number | null>> {
    const rows = await this.#reader.read((tx) =>
      tx.all<RestRow>('SELECT project_id, next_due_at FROM project_rest'),
    );
    return new Map(rows.map(({ project_id, next_due_at }) => [project_id, next_due_at]));
  }

  async begin(projectId: string, nextDueAt: number | null): Promise<void> {
    await this.#writer.write((tx) =>
      tx.run(
        `INSERT INTO project_rest (project_id, next_due_at) VALUES (?, ?)
         ON CONFLICT DO UPDATE SET next_due_at = excluded.next_due_at`,
        [projectId, nextDueAt],
      ),
    );
  }

  async end(projectId: string): Promise<void> {
    await this.#writer.write((tx) =>
      tx.run('DELETE FROM project_rest WHERE project_id = ?', [projectId]),
    );
  }

  /** Every project has to be looked at: for a database that was put together from copies. */
  async endAll(): Promise<void> {
    await this.#writer.write((tx) => tx.run('DELETE FROM project_rest'));
  }
}
