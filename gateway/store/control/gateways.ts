import type { Reader, Row, Writer, WriteTx } from '../../../shared/store/engine/driver.ts';
import type { ProjectIdleState, IdleMarkers } from './idle-markers.ts';

/** The beat of a gateway that left on its own. */
export const LEFT = -1;
/** The beat of a gateway that another one took over, and that has written notes but no beat since. */
const TAKEN_OVER = 0;

/** A gateway, as the others see it. */
export interface GatewayRow extends Row {
  id: string;
  /** Increases while the gateway lives; `LEFT` after it has left. */
  beat: number;
}

interface WorkRow extends Row {
  id: string;
  working: number;
  next_due_at: number | null;
}

/** The result of a beat. */
export interface Beat {
  /** Another gateway took this one for dead and took over its projects. */
  readonly wasGone: boolean;
  /** Its previous beat; null for the first one. */
  readonly before: number | null;
  readonly others: readonly GatewayRow[];
}

const WORK_OF =
  'SELECT project_id AS id, working, next_due_at FROM project_work WHERE gateway_id = ?';

/**
 * The gateways that share one store, in the control database: which of them live, which projects each looks after,
 * and which one runs each exclusive task. It never compares clocks of machines: a gateway whose beat stands still for
 * long counts as dead.
 */
export class GatewayStore {
  readonly #reader: Reader;
  readonly #writer: Writer;

  constructor(reader: Reader, writer: Writer) {
    this.#reader = reader;
    this.#writer = writer;
  }

  /** Increments a gateway's beat; returns the rows of the others. */
  beat(id: string, now: number): Promise<Beat> {
    return this.#writer.write(async (tx) => {
      const all = await tx.all<GatewayRow>('SELECT id, beat FROM gateway');
      await tx.put(
        `INSERT INTO gateway (id, beat, started_at) VALUES (?, 1, ?)
         ON CONFLICT DO UPDATE SET beat = max(beat, 0) + 1`,
        [id, now],
      );
      const own = all.find((row) => row.id === id);
      const others = all.filter((row) => row.id !== id);
      const before = own?.beat ?? null;
      return { wasGone: (before ?? TAKEN_OVER) === TAKEN_OVER, before, others };
    });
  }

  /** Marks a gateway as gone, so that the others take over its projects and tasks. */
  async leave(id: string): Promise<void> {
    await this.#writer.write(async (tx) => {
      await tx.run('UPDATE gateway SET beat = ? WHERE id = ?', [LEFT, id]);
      await tx.run('DELETE FROM duty WHERE gateway_id = ?', [id]);
    });
  }

  /** Returns the other gateways that haven't left: each lives, or has died. */
  others(id: string): Promise<GatewayRow[]> {
    return this.#reader.read((tx) =>
      tx.all<GatewayRow>('SELECT id, beat FROM gateway WHERE id <> ? AND beat <> ?', [id, LEFT]),
    );
  }

  /**
   * Assigns a project to a gateway that doesn't run. Any gateway takes it over from there, or that one does at its
   * start.
   */
  async handOver(id: string, projectId: string, now: number): Promise<void> {
    await this.#writer.write(async (tx) => {
      await tx.run(
        `INSERT INTO gateway (id, beat, started_at) VALUES (?, ?, ?)
         ON CONFLICT DO UPDATE SET beat = excluded.beat`,
        [id, LEFT, now],
      );
      await tx.run(
        `INSERT INTO project_work (gateway_id, project_id, working, next_due_at) VALUES (?, ?, 1, NULL)
         ON CONFLICT DO UPDATE SET working = 1, next_due_at = NULL`,
        [id, projectId],
      );
    });
  }

  /**
   * Takes over the projects of a dead gateway. Returns an empty list if it has beaten since, or another gateway was
   * faster.
   */
  takeOver(id: string, gone: GatewayRow): Promise<ProjectIdleState[]> {
    return this.#writer.write(async (tx) => {
      const isGone = await tx.run('DELETE FROM gateway WHERE id = ? AND beat = ?', [
        gone.id,
        gone.beat,
      ]);
      if (isGone === 0) return [];
      const left = await tx.all<WorkRow>(WORK_OF, [gone.id]);
      await inherit(tx, id, gone.id);
      await tx.run('DELETE FROM duty WHERE gateway_id = ?', [gone.id]);
      return left.map(toWork);
    });
  }

  /** Takes an exclusive task if no gateway has it; returns whether this gateway has it now. */
  takeTask(id: string, name: string): Promise<boolean> {
    return this.#writer.write(async (tx) => {
      const held = await tx.get('SELECT gateway_id FROM duty WHERE name = ?', [name]);
      if (held) return held['gateway_id'] === id;
      await tx.run('INSERT INTO duty (name, gateway_id) VALUES (?, ?)', [name, id]);
      return true;
    });
  }

  /** Returns the idle markers of a gateway's projects. */
  markersOf(id: string): IdleMarkers {
    const note = (projectId: string, working: 0 | 1, nextDueAt: number | null): Promise<void> =>
      this.#writer.write(async (tx) => {
        // No gateway would take over notes of a gateway that has no row.
        await tx.put(
          'INSERT INTO gateway (id, beat, started_at) VALUES (?, ?, 0) ON CONFLICT DO NOTHING',
          [id, TAKEN_OVER],
        );
        await tx.put(
          `INSERT INTO project_work (gateway_id, project_id, working, next_due_at) VALUES (?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET working = excluded.working, next_due_at = excluded.next_due_at`,
          [id, projectId, working, nextDueAt],
        );
      });
    return {
      all: () => this.#allOf(id),
      begin: (projectId, nextDueAt) => note(projectId, 0, nextDueAt),
      end: (projectId) => note(projectId, 1, null),
    };
  }

  /** Includes projects without any gateway, such as one that was just imported. */
  async #allOf(id: string): Promise<ProjectIdleState[]> {
    const rows = await this.#reader.read((tx) =>
      tx.all<WorkRow>(
        `${WORK_OF} UNION ALL
         SELECT id, 1, NULL FROM project WHERE state NOT IN ('reserved', 'moved')
           AND NOT EXISTS (SELECT 1 FROM project_work WHERE project_id = project.id)`,
        [id],
      ),
    );
    return rows.map(toWork);
  }
}

/** If both gateways have a note about a project, the one that demands more work wins. */
async function inherit(tx: WriteTx, heir: string, gone: string): Promise<void> {
  await tx.run(
    `INSERT INTO project_work (gateway_id, project_id, working, next_due_at)
       SELECT ?, project_id, working, next_due_at FROM project_work WHERE gateway_id = ?
     ON CONFLICT DO UPDATE SET working = max(working, excluded.working),
       next_due_at = min(coalesce(next_due_at, excluded.next_due_at), coalesce(excluded.next_due_at, next_due_at))`,
    [heir, gone],
  );
  await tx.run('DELETE FROM project_work WHERE gateway_id = ?', [gone]);
}

function toWork({ id, working, next_due_at }: WorkRow): ProjectIdleState {
  return { id, isIdle: working === 0, nextDueAt: next_due_at };
}
