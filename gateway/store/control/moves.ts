import type { Reader, Row, Tx, Writer } from '../../../shared/store/engine/driver.ts';
import type { ProjectState } from './project-state.ts';
import { addAccount, type AccountRow } from './accounts.ts';
import { LEFT, type GatewayRow } from './gateways.ts';

/** What a project's new gateway needs from the control database. */
export interface MovingProject {
  readonly project: {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    readonly created_at: string;
  };
  /** Null if the project belongs to the machine that runs the gateway. */
  readonly account: AccountRow | null;
}

/**
 * Gateways cache where a project is. So if several may share a store, a gateway may change that only while it is the
 * only one.
 */
export interface ExclusiveGateway {
  /** Null if no other gateway can exist. */
  readonly id: string | null;
  /** Gateways that were found dead, with their beats at that time. */
  readonly dead: readonly GatewayRow[];
}

/**
 * `changed` is false if the project was already in that state; `refused` names its current state; `others` counts
 * living gateways that wouldn't notice the change.
 */
export type Transition =
  | { readonly changed: boolean }
  | { readonly others: number }
  | { readonly refused: Exclude<ProjectState, 'reserved' | 'deleting'> | 'missing' };

export type AdoptionResult = 'adopted' | 'id_taken' | 'slug_taken';

interface StateRow extends Row {
  state: ProjectState;
  moved_to: string | null;
}

interface ProjectRow extends Row {
  id: string;
  slug: string;
  name: string;
  created_at: string;
  state: ProjectState;
  account_id: string | null;
}

/** Projects that move between gateways, in the control database. */
export class MoveStore {
  readonly #reader: Reader;
  readonly #writer: Writer;

  constructor(reader: Reader, writer: Writer) {
    this.#reader = reader;
    this.#writer = writer;
  }

  /** Returns the address that the operator gave for a moved project; null without one. */
  async movedTo(projectId: string): Promise<string | null> {
    return (await this.#reader.read((tx) => stateOf(tx, projectId)))?.moved_to ?? null;
  }

  hold(projectId: string, gateway: ExclusiveGateway): Promise<Transition> {
    return this.#turn(projectId, { from: ['active'], to: 'held', gateway });
  }

  /** `alsoMoved`: one that is marked as moved is here after all, because nothing arrived at the other gateway. */
  release(projectId: string, gateway: ExclusiveGateway, alsoMoved = false): Promise<Transition> {
    const from: readonly ProjectState[] = alsoMoved ? ['held', 'moved'] : ['held'];
    return this.#turn(projectId, { from, to: 'active', gateway });
  }

  /** Marks a held project as moved. If it has already moved, it only changes the address. */
  move(projectId: string, movedTo: string | null, gateway: ExclusiveGateway): Promise<Transition> {
    return this.#writer.write(async (tx): Promise<Transition> => {
      const others = await othersOf(tx, gateway);
      if (others > 0) return { others };
      const row = await stateOf(tx, projectId);
      if (!row || !isThere(row.state)) return { refused: 'missing' };
      if (row.state === 'active') return { refused: 'active' };
      if (row.state === 'moved' && row.moved_to === movedTo) return { changed: false };
      await tx.run("UPDATE project SET state = 'moved', moved_to = ? WHERE id = ?", [
        movedTo,
        projectId,
      ]);
      return { changed: true };
    });
  }

  /** Adds a project, ready for use, after its database is in place. */
  adopt({ project, account }: MovingProject): Promise<AdoptionResult> {
    return this.#writer.write(async (tx): Promise<AdoptionResult> => {
      const { id, slug, name, created_at } = project;
      if (await tx.get('SELECT 1 AS taken FROM project WHERE id = ?', [id])) return 'id_taken';
      if (await tx.get('SELECT 1 AS taken FROM project WHERE slug = ?', [slug])) {
        return 'slug_taken';
      }
      const accountId = account ? await addAccount(tx, { ...account, mailbox_hash: null }) : null;
      await tx.run(
        "INSERT INTO project (id, slug, name, state, created_at, account_id) VALUES (?, ?, ?, 'active', ?, ?)",
        [id, slug, name, created_at, accountId],
      );
      return 'adopted';
    });
  }

  #turn(
    projectId: string,
    {
      from,
      to,
      gateway,
    }: {
      readonly from: readonly ProjectState[];
      readonly to: ProjectState;
      readonly gateway: ExclusiveGateway;
    },
  ): Promise<Transition> {
    return this.#writer.write(async (tx): Promise<Transition> => {
      const others = await othersOf(tx, gateway);
      if (others > 0) return { others };
      const row = await stateOf(tx, projectId);
      if (!row || !isThere(row.state)) return { refused: 'missing' };
      if (row.state === to) return { changed: false };
      if (!from.includes(row.state)) return { refused: row.state };
      await tx.run('UPDATE project SET state = ?, moved_to = NULL WHERE id = ?', [to, projectId]);
      return { changed: true };
    });
  }
}

/** A gateway beats before it asks where a project is, so a new one is counted here or reads the new state. */
async function othersOf(tx: Tx, { id, dead }: ExclusiveGateway): Promise<number> {
  if (id === null) return 0;
  const rows = await tx.all<GatewayRow>(
    'SELECT id, beat FROM gateway WHERE id <> ? AND beat <> ?',
    [id, LEFT],
  );
  return rows.filter((row) => !dead.some((gone) => gone.id === row.id && gone.beat === row.beat))
    .length;
}

function isThere(state: ProjectState): state is Exclude<ProjectState, 'reserved' | 'deleting'> {
  return state !== 'reserved' && state !== 'deleting';
}

function stateOf(tx: Tx, projectId: string): Promise<StateRow | undefined> {
  return tx.get<StateRow>('SELECT state, moved_to FROM project WHERE id = ?', [projectId]);
}

/** Finds a project and its state by slug or id, also in a database of an older release. */
export function findMoving(
  reader: Reader,
  name: string,
): Promise<(MovingProject & { readonly state: ProjectState }) | null> {
  return reader.read(async (tx) => {
    const row = await tx.get<ProjectRow>(
      'SELECT id, slug, name, created_at, state, account_id FROM project WHERE slug = ?1 OR id = ?1',
      [name],
    );
    if (!row) return null;
    const { account_id, state, ...project } = row;
    const account =
      account_id === null
        ? null
        : await tx.get<AccountRow>(
            'SELECT id, address, address_hash, created_at FROM account WHERE id = ?',
            [account_id],
          );
    return { project, account: account ?? null, state };
  });
}
