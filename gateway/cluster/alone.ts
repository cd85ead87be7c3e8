import type { BackgroundTask } from '../lib/background-task.ts';
import type { IdleMarkers } from '../store/control/idle-markers.ts';
import type { ExclusiveGateway } from '../store/control/moves.ts';
import type { CoordinatedProject, Coordination, ProjectCoordination } from './coordination.ts';
import { OwnDeliveries } from './due-deliveries.ts';
import { OWN_ROWS } from './due-rows.ts';

/** A gateway whose databases nobody else has. */
export class AloneCoordination implements Coordination {
  readonly idleMarkers: IdleMarkers;
  readonly exclusiveGateway: ExclusiveGateway = { id: null, dead: [] };
  readonly hasOthers = false;
  readonly isServerSilent = null;
  readonly #tasks: BackgroundTask[] = [];

  constructor(idleMarkers: IdleMarkers) {
    this.idleMarkers = idleMarkers;
  }

  isAbandoned(): boolean {
    return true;
  }

  ofProject(project: CoordinatedProject): ProjectCoordination {
    return new OwnProject(project);
  }

  addExclusiveTask(task: BackgroundTask): void {
    this.#tasks.push(task);
  }

  async start(): Promise<void> {
    // There is nobody to join.
  }

  async ready(): Promise<void> {
    for (const task of this.#tasks) await task.start();
  }

  async endTasks(): Promise<void> {
    await Promise.all(this.#tasks.map((task) => task.stop()));
  }

  async close(): Promise<void> {
    // There is nobody to leave work to.
  }
}

class OwnProject implements ProjectCoordination {
  readonly writesAlone = true;
  readonly mayBeBehind = false;
  readonly mayWrite = true;
  readonly pinHolder = null;
  readonly dueRows = OWN_ROWS;
  readonly lookUp: ProjectCoordination['lookUp'];
  readonly #project: CoordinatedProject;

  constructor(project: CoordinatedProject) {
    this.#project = project;
    this.lookUp = (find) => project.store.read(find);
  }

  newDeliveries(): OwnDeliveries {
    return new OwnDeliveries(this.#project.store);
  }

  newPins(): null {
    return null;
  }

  async refresh(): Promise<void> {
    // Everything is here.
  }

  async catchUp(): Promise<void> {
    // Everything is here.
  }

  noteUncertain(): void {
    // A commit in a file is certain.
  }

  watch(): void {
    // Whoever waits hears of each commit of this process.
  }

  close(): void {
    // Nothing is under way.
  }
}
