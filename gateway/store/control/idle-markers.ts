import type { Reader, Row, Writer } from '../../../shared/store/driver.ts';

/** A project, as whoever wrote to it last has left it. */
export interface ProjectIdleState {
  readonly id: string;
  /** Nothing was left under way. Others have to be opened to be known. */
  readonly isIdle: boolean;
  /** When something falls due in one that rests, in milliseconds; null when nothing will. */
  readonly nextDueAt: number | null;
}

/** Notes of which projects rest, so that a start need not open each to know what falls due in it. */
export interface IdleMarkers {
  /** Those this gateway has to look after. */
  all(): Promise<ProjectIdleState[]>;
  begin(projectId: string, nextDueAt: number | null): Promise<void>;
  /** Durable before the first write after a rest. */
  end(projectId: string): Promise<void>;
}

interface RestRow extends Row {
  id: string;
  is_resting: number;
  next_due_at: number | null;
}

/** The notes of a gateway that has its databases for itself: one that is not there has to be opened to be known. */
export class IdleMarkerStore implements IdleMarkers {
  readonly #reader: Reader;
  readonly #writer: Writer;

  constructor(reader: Reader, writer: Writer) {
    this.#reader = reader;
    this.#writer = writer;
  }

  async all(): Promise<ProjectIdleState[]> {
    const rows = await this.#reader.read((tx) =>
      tx.all<RestRow>(
        `SELECT id, project_id IS NOT NULL AS is_resting, next_due_at
         FROM project LEFT JOIN project_rest ON project_id = id
         WHERE state <> 'moved' ORDER BY created_at, id`,
      ),
    );
    return rows.map(({ id, is_resting, next_due_at }) => ({
      id,
      isIdle: is_resting === 1,
      nextDueAt: next_due_at,
    }));
  }

  async begin(projectId: string, nextDueAt: number | null): Promise<void> {
    await this.#writer.write((tx) =>
      tx.put(
        `INSERT INTO project_rest (project_id, next_due_at) VALUES (?, ?)
         ON CONFLICT DO UPDATE SET next_due_at = excluded.next_due_at`,
        [projectId, nextDueAt],
      ),
    );
  }

  async end(projectId: string): Promise<void> {
    await this.#writer.write((tx) =>
      tx.put('DELETE FROM project_rest WHERE project_id = ?', [projectId]),
    );
  }

  /** Every project has to be looked at: for a database that was put together from copies. */
  async endAll(): Promise<void> {
    await this.#writer.write((tx) => tx.put('DELETE FROM project_rest'));
  }
}
