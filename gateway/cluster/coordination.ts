import type { ProjectReader } from '../../shared/store/project-store.ts';
import type { Repositories } from '../../shared/store/repositories.ts';
import type { BackgroundTask } from '../lib/background-task.ts';
import type { ProjectWrites } from '../commit/thread/writers.ts';
import type { IdleMarkers, ProjectIdleState } from '../store/control/idle-markers.ts';
import type { ExclusiveGateway } from '../store/control/moves.ts';
import type { DueDeliveries } from './due-deliveries.ts';
import type { DueRows } from './due-rows.ts';
import type { SharedPins } from './shared-pins.ts';

/** The projects of a gateway, as far as other gateways are concerned with them. */
export interface CoordinatedProjects {
  /** Takes over projects that an earlier run or another gateway left. */
  adopt(work: readonly ProjectIdleState[]): void;
  /**
   * The others look after everything this gateway did: it starts again with nothing. Resolves once it knows what they
   * changed; never rejects.
   */
  releaseAll(): Promise<void>;
}

/** A project, as far as other gateways are concerned with it. */
export interface CoordinatedProject {
  readonly store: ProjectReader;
  /** Reads what this gateway has, without asking for what others committed. */
  readonly localStore: ProjectReader;
  readonly writes: ProjectWrites;
  /** Whether anyone waits for changes in it. */
  readonly isAwaited: boolean;
  /** Takes in what others have committed by now, which wakes whoever waits. */
  catchUp(): Promise<void>;
  /** Runs work that nobody waits for; logs its errors. */
  inBackground(work: () => Promise<void>): void;
}

/** Takes in what others have committed; the project's files are open. */
type TakeIn = () => Promise<void>;

/** What a project does because other gateways may have it too. */
export interface ProjectCoordination {
  /** No other gateway writes to the project: what was read stays true until this one writes. */
  readonly writesAlone: boolean;
  /** Others may have written since this gateway last looked. */
  readonly mayBeBehind: boolean;
  /** False while the others may have declared this gateway dead: the project may have moved. */
  readonly mayWrite: boolean;
  /** The name under which this process pins blobs for others to see; null if nobody else erases any. */
  readonly pinHolder: string | null;
  readonly dueRows: DueRows;
  newDeliveries(): DueDeliveries;
  /** Pins that others see; null if there are no others. */
  newPins(): SharedPins | null;
  /** Call before a read that has to see everything that was committed, by any gateway. */
  refresh(takeIn: TakeIn): Promise<void>;
  /** Takes in what others have committed by now. */
  catchUp(takeIn: TakeIn): Promise<void>;
  /** A commit may be at the database server and not here. */
  noteUncertain(): void;
  /** Finds what a write checks again: it looks first at what is here, then at everything that was committed. */
  lookUp<T>(find: (store: Repositories) => Promise<T | undefined>): Promise<T | undefined>;
  /** Call when somebody starts to wait for changes, which others may make. */
  watch(): void;
  close(): void;
}

/**
 * How a gateway gets along with others that have the same databases. `AloneCoordination` gives the simple answers of a
 * gateway whose databases are files, `SharedCoordination` those of one of several over a database server.
 */
export interface Coordination {
  /** The idle markers of the projects that this gateway looks after. */
  readonly idleMarkers: IdleMarkers;
  /** This gateway as one that wants to be the only one: see `MoveStore`. */
  readonly exclusiveGateway: ExclusiveGateway;
  /** Other gateways are there or were until a moment ago. */
  readonly hasOthers: boolean;
  /** The database server hasn't answered for seconds; null without one. */
  readonly isServerSilent: boolean | null;
  /** Nobody is about to finish a project that was reserved then (Unix time in milliseconds). */
  isAbandoned(reservedAt: number): boolean;
  ofProject(project: CoordinatedProject): ProjectCoordination;
  /** Adds a task that only one gateway runs at a time. Call it before `start`. */
  addExclusiveTask(task: BackgroundTask): void;
  /** Joins the others, who then may hand over work. Nobody may ask where a project is before: see `MoveStore`. */
  start(projects: CoordinatedProjects): Promise<void>;
  /** The projects are there, for the exclusive tasks. */
  ready(): Promise<void>;
  /** Ends its exclusive tasks and takes on no more, before closing. */
  endTasks(): Promise<void>;
  /** Leaves its work to the others. */
  close(): Promise<void>;
}
