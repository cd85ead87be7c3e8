import type { Reader, Row, Writer } from '../../../shared/store/engine/driver.ts';

/** A project's state after its last write. */
export interface ProjectIdleState {
  readonly id: string;
  /** The project has no open work. Without this mark, a gateway has to open the project to find out. */
  readonly isIdle: boolean;
  /** The next due time of an idle project, in milliseconds; null if nothing will fall due. */
  readonly nextDueAt: number | null;
}

/** Marks of idle projects, so that a gateway needn't open each project at its start to learn what falls due. */
export interface IdleMarkers {
  /** Returns the projects that this gateway looks after. */
  all(): Promise<ProjectIdleState[]>;
  begin(projectId: string, nextDueAt: number | null): Promise<void>;
  /** Removes the mark; durable before the project's next write. */
  end(projectId: string): Promise<void>;
}

interface RestRow extends Row {
  id: string;
  is_resting: number;
  next_due_at: number | null;
}

/** Idle marks of a gateway that owns its databases alone. A project without a mark must be opened. */
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

  /** Removes all marks, for a database that was assembled from copies. */
  async endAll(): Promise<void> {
    await this.#writer.write((tx) => tx.put('DELETE FROM project_rest'));
  }
}
