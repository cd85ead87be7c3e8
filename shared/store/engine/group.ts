import { isDiskFailure, type Connection } from './connection.ts';
import type { Query, SharedByGroup, SqlValue, Tx, WriteTx } from './driver.ts';
import type { JobGroup, JobScope } from './jobs.ts';
import { Scope, TurnWatch } from './scope.ts';

export class Group implements SharedByGroup, JobGroup {
  readonly connection: Connection;
  readonly carried = new Map<string, unknown>();
  /** The statements that changed something, in order; null if nobody needs them. */
  readonly statements: Query[] | null;
  readonly #watch = new TurnWatch();
  readonly #finishers = new Map<string, (tx: Tx) => Promise<void>>();
  /** The scope of the running job. */
  #scope: WriteScope | null = null;

  constructor(connection: Connection, { records = false } = {}) {
    this.connection = connection;
    this.statements = records ? [] : null;
  }

  scope(): JobScope {
    this.#scope = new WriteScope(this);
    return this.#scope;
  }

  within<T>(work: Promise<T>): Promise<T> {
    return this.#watch.within(work);
  }

  isLost(error?: unknown): boolean {
    return !this.connection.inTransaction || isDiskFailure(error);
  }

  atEnd(name: string, finisher: (tx: Tx) => Promise<void>): void {
    if (this.#scope) this.#scope.wrote = true;
    this.#finishers.set(name, finisher);
  }

  async finish(): Promise<void> {
    const scope = new WriteScope(this);
    for (const finisher of this.#finishers.values()) await this.within(finisher(scope));
    scope.revoke();
    this.#watch.done();
    this.#finishers.clear();
  }

  forget(): void {
    this.carried.clear();
    this.#finishers.clear();
  }
}

class WriteScope extends Scope implements WriteTx, JobScope {
  wrote = false;
  readonly group: Group;

  constructor(group: Group) {
    super(group.connection);
    this.group = group;
  }

  override async run(sql: string, params: readonly SqlValue[] = []): Promise<number> {
    this.wrote = true;
    const changes = await super.run(sql, params);
    this.group.statements?.push({ sql, params });
    return changes;
  }
}
