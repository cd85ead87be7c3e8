import { setTimeout as sleep } from 'node:timers/promises';
import { StartRefusal } from '../../../shared/host/start-refusal.ts';
import type { ControlStore } from '../../store/control-store.ts';
import type { GatewayRow, GatewayStore } from '../../store/control/gateways.ts';
import { findMoving, type MovingProject } from '../../store/control/moves.ts';
import type { ProjectState } from '../../store/control/project-state.ts';
import { onceFree } from '../../store/once-free.ts';
import { openReadOnly } from '../../store/read-only.ts';
import type { Lock } from '../../../shared/store/engine/lock.ts';
import { openControl } from '../../projects/open-control.ts';
import { othersHint } from '../../operator/others-hint.ts';
import { DEAD_AFTER_MS } from '../../cluster/cluster.ts';
import { gatewayIdIn } from '../../cluster/gateway-id.ts';
import { claimDataFolder } from '../../lib/data-folder.ts';
import { createVault } from '../../lib/vault.ts';
import { AdminError } from '../admin-error.ts';
import { existingKey } from '../master-key.ts';
import { order, OrderError } from '../operator-call.ts';
import { keyFileOf, type AdminSettings } from '../settings.ts';

type ControlOptions = Pick<AdminSettings, 'dataFolder' | 'masterKeyFile' | 'databases'>;

const LOOK_MS = 500;

/** Changes a project's rows in the control database: through the running gateway, or directly if there is none. */
export interface ControlAccess {
  /** Resolves once nothing in the project is being written any more. */
  hold(projectId: string): Promise<void>;
  /** Throws an `OrderError` if its id or slug is taken. */
  adopt(moving: MovingProject): Promise<void>;
  close(): Promise<void>;
}

/** If no gateway runs, keeps one from starting while this is open. Throws an `AdminError` if the data can't be reached either way. */
export async function openControlAccess(settings: ControlOptions): Promise<ControlAccess> {
  const { dataFolder, masterKeyFile } = settings;
  let lock: Lock;
  try {
    lock = claimDataFolder(dataFolder, masterKeyFile);
  } catch (error) {
    if (!(error instanceof StartRefusal)) throw error;
    if (error.kind !== 'held') throw new AdminError(error.text(), { cause: error });
    return new RunningGateway(settings);
  }
  try {
    return await OwnData.open(settings, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

class RunningGateway implements ControlAccess {
  readonly #dataFolder: string;
  readonly #store: string;

  constructor({ dataFolder, databases }: ControlOptions) {
    this.#dataFolder = dataFolder;
    this.#store = databases.fingerprint;
  }

  hold(projectId: string): Promise<void> {
    return order(this.#dataFolder, `/projects/${projectId}/hold`);
  }

  adopt({ project, account }: MovingProject): Promise<void> {
    const { id, slug, name, created_at } = project;
    return order(this.#dataFolder, '/imports', {
      store: this.#store,
      project: { id, slug, name, created_at },
      account: account && { ...account, address: Buffer.from(account.address).toString('base64') },
    });
  }

  async close(): Promise<void> {
    // Each order uses its own connection.
  }
}

class OwnData implements ControlAccess {
  readonly #control: ControlStore;
  readonly #lock: Lock;
  /** For the gateway of this folder, if others may share its store. */
  readonly #gatewayId: string | null;

  private constructor(control: ControlStore, lock: Lock, gatewayId: string | null) {
    this.#control = control;
    this.#lock = lock;
    this.#gatewayId = gatewayId;
  }

  static async open(settings: ControlOptions, lock: Lock): Promise<OwnData> {
    const { databases, dataFolder } = settings;
    const vault = createVault(existingKey(keyFileOf(settings)));
    const control = await onceFree(() => openControl(databases, vault, () => undefined));
    return new OwnData(control, lock, databases.onServer ? gatewayIdIn(dataFolder) : null);
  }

  async hold(projectId: string): Promise<void> {
    const id = this.#gatewayId;
    const dead = id === null ? [] : await silent(this.#control.gateways, id);
    const turned = await this.#control.moves.hold(projectId, { id, dead });
    if ('others' in turned) throw new OrderError(othersHint(turned.others));
    if ('refused' in turned) throw new OrderError(`The project is not active: ${turned.refused}.`);
  }

  async adopt(moving: MovingProject): Promise<void> {
    const adopted = await this.#control.moves.adopt(moving);
    if (adopted !== 'adopted') throw new OrderError(`It wasn't imported: ${adopted}.`);
    const id = this.#gatewayId;
    // Running gateways would start to look after the project only at its first call.
    if (id !== null) await this.#control.gateways.handOver(id, moving.project.id, Date.now());
  }

  async close(): Promise<void> {
    await this.#control.close();
    this.#lock.release();
  }
}

/** The gateways that didn't say they left but have sent no heartbeat for long enough to be sure. */
async function silent(store: GatewayStore, own: string): Promise<GatewayRow[]> {
  const first = await store.others(own);
  const until = performance.now() + DEAD_AFTER_MS;
  const stands = ({ id, beat }: GatewayRow): boolean =>
    first.some((row) => row.id === id && row.beat === beat);
  let now = first;
  // If one of them is alive, the others don't matter.
  while (now.length > 0 && now.every(stands) && performance.now() < until) {
    await sleep(LOOK_MS);
    now = await store.others(own);
  }
  return now.filter(stands);
}

/** The control database's row of the project with this slug or id, read even while a gateway uses it; null if there is none. */
export async function lookUp(
  { databases }: Pick<AdminSettings, 'databases'>,
  name: string,
): Promise<(MovingProject & { readonly state: ProjectState }) | null> {
  const reader = await openReadOnly(databases.control);
  try {
    return await findMoving(reader, name);
  } finally {
    await reader.close();
  }
}
