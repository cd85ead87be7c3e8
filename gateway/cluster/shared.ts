import { randomUUID } from 'node:crypto';
import type { Clock } from '../../shared/lib/clock.ts';
import type { BackgroundTask } from '../lib/background-task.ts';
import type { GatewayStore } from '../store/control/gateways.ts';
import type { IdleMarkers } from '../store/control/idle-markers.ts';
import type { ExclusiveGateway } from '../store/control/moves.ts';
import { Cluster, type ClusterTiming } from './cluster.ts';
import type {
  CoordinatedProject,
  CoordinatedProjects,
  Coordination,
  ProjectCoordination,
} from './coordination.ts';
import { ClaimedDeliveries } from './due-deliveries.ts';
import { CLAIMED_ROWS } from './due-rows.ts';
import { ForeignChanges } from './foreign-changes.ts';
import { SharedPins } from './shared-pins.ts';

/** A gateway that reserved a project has created it within this time, or has died. */
const FINISHED_WITHIN_MS = 60_000;

interface SharedOptions {
  readonly store: GatewayStore;
  /** This gateway's id: `gatewayIdIn` its data folder. */
  readonly id: string;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
  /** For tests. */
  readonly timing?: ClusterTiming;
}

/** One of the gateways whose databases are on a server. */
export class SharedCoordination implements Coordination {
  readonly idleMarkers: IdleMarkers;
  readonly exclusiveGateway: ExclusiveGateway;
  readonly #clock: Clock;
  readonly #cluster: Cluster;
  #projects: CoordinatedProjects | null = null;

  constructor(options: SharedOptions) {
    const { store, id, clock } = options;
    this.idleMarkers = store.markersOf(id);
    this.exclusiveGateway = { id, dead: [] };
    this.#clock = clock;
    this.#cluster = new Cluster({
      ...options,
      onFailover: (work) => this.#projects?.adopt(work),
      onLost: async () => this.#projects?.releaseAll(),
    });
  }

  get hasOthers(): boolean {
    return this.#cluster.hasOthers;
  }

  get isServerSilent(): boolean {
    return this.#cluster.isServerSilent;
  }

  isAbandoned(reservedAt: number): boolean {
    return reservedAt <= this.#clock.now() - FINISHED_WITHIN_MS;
  }

  ofProject(project: CoordinatedProject): ProjectCoordination {
    return new SharedProject(project, this.#cluster, this.#clock);
  }

  addExclusiveTask(task: BackgroundTask): void {
    this.#cluster.add(task);
  }

  async start(projects: CoordinatedProjects): Promise<void> {
    this.#projects = projects;
    await this.#cluster.start();
  }

  async ready(): Promise<void> {
    // The heartbeats start the tasks that are free.
  }

  endTasks(): Promise<void> {
    return this.#cluster.endTasks();
  }

  close(): Promise<void> {
    return this.#cluster.close();
  }
}

class SharedProject implements ProjectCoordination {
  readonly writesAlone = false;
  readonly pinHolder = randomUUID();
  readonly dueRows = CLAIMED_ROWS;
  readonly lookUp: ProjectCoordination['lookUp'];
  readonly #project: CoordinatedProject;
  readonly #cluster: Cluster;
  readonly #clock: Clock;
  readonly #changes: ForeignChanges;
  /** Names the last commit that may be at the server and not here; null once we have asked. */
  #uncertain: object | null = null;

  constructor(project: CoordinatedProject, cluster: Cluster, clock: Clock) {
    this.#project = project;
    this.#cluster = cluster;
    this.#clock = clock;
    this.#changes = new ForeignChanges(project, () => this.mayBeBehind);
    this.lookUp = async (find) =>
      (await project.localStore.read(find)) ?? (await project.store.read(find));
  }

  get mayBeBehind(): boolean {
    return this.#cluster.mayHaveCompany;
  }

  get mayWrite(): boolean {
    return !this.#cluster.isUnsure;
  }

  newDeliveries(): ClaimedDeliveries {
    return new ClaimedDeliveries(this.#project, this.#clock);
  }

  newPins(): SharedPins {
    return new SharedPins(this.#project.writes, this.#clock, { holder: this.pinHolder });
  }

  async refresh(takeIn: () => Promise<void>): Promise<void> {
    if (this.#uncertain || this.mayBeBehind) await this.catchUp(takeIn);
  }

  async catchUp(takeIn: () => Promise<void>): Promise<void> {
    const uncertain = this.#uncertain;
    await takeIn();
    if (this.#uncertain === uncertain) this.#uncertain = null;
  }

  noteUncertain(): void {
    this.#uncertain = {};
  }

  watch(): void {
    this.#changes.watch();
  }

  close(): void {
    this.#changes.close();
  }
}
