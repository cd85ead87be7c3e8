import type { ResultSet } from '@libsql/client/http';
import type { Query, SharedByGroup, SqlValue, Tx, WriteTx } from '../driver.ts';
import type { JobGroup, JobScope } from '../jobs.ts';
import { isOfStatement } from './failure.ts';
import { RemoteScope, withinStatements } from './scope.ts';
import type { RemoteTransaction } from './transaction.ts';

/** The state that jobs of one transaction on a server share. */
export class RemoteGroup implements SharedByGroup, JobGroup {
  readonly transaction: RemoteTransaction;
  readonly carried = new Map<string, unknown>();
  readonly #isApart: boolean;
  readonly #finishers = new Map<string, (tx: Tx) => Promise<void>>();
  /** The scope of the running job. */
  #scope: RemoteJobScope | null = null;
  /** Answers by statement text, then by values. */
  readonly #foreseen = new Map<string, Map<string, Promise<ResultSet>>>();

  /** `isApart`: each job has a savepoint, so that its failed statements can be undone. */
  constructor(transaction: RemoteTransaction, isApart: boolean) {
    this.transaction = transaction;
    this.#isApart = isApart;
  }

  /** Sends the query now for the job that will run it; sends it only once if several jobs want it. */
  lookAhead({ sql, params }: Query): void {
    let ofText = this.#foreseen.get(sql);
    if (!ofText) this.#foreseen.set(sql, (ofText = new Map()));
    const values = JSON.stringify(params);
    if (ofText.has(values)) return;
    const answer = this.transaction.ask(sql, params);
    // Callers that await the answer get the error; if none does, the transaction has failed anyway.
    answer.catch(() => undefined);
    ofText.set(values, answer);
  }

  foreseen(sql: string, params: readonly SqlValue[]): Promise<ResultSet> | null {
    return this.#foreseen.get(sql)?.get(JSON.stringify(params)) ?? null;
  }

  scope(): JobScope {
    this.#scope = new RemoteJobScope(this);
    return this.#scope;
  }

  async within<T>(work: Promise<T>): Promise<T> {
    const value = await withinStatements(this.transaction, work);
    // Only after this flush do we know whose statements failed.
    if (this.#isApart) await this.transaction.flush();
    return value;
  }

  isLost(): boolean {
    const { failure } = this.transaction;
    return failure !== null && !(this.#isApart && isOfStatement(failure.error));
  }

  atEnd(name: string, finisher: (tx: Tx) => Promise<void>): void {
    if (this.#scope) this.#scope.willWrite = true;
    this.#finishers.set(name, finisher);
  }

  async finish(): Promise<void> {
    const scope = new RemoteScope(this.transaction);
    for (const finisher of this.#finishers.values()) {
      await withinStatements(this.transaction, finisher(scope));
    }
    scope.revoke();
    this.#finishers.clear();
  }

  forget(): void {
    this.carried.clear();
    this.#finishers.clear();
  }
}

class RemoteJobScope extends RemoteScope implements WriteTx, JobScope {
  readonly group: RemoteGroup;
  /** True if a finisher will write something for this job. */
  willWrite = false;

  constructor(group: RemoteGroup) {
    super(group.transaction);
    this.group = group;
  }

  protected override foreseen(sql: string, params: readonly SqlValue[] = []) {
    return this.group.foreseen(sql, params);
  }

  /** After a failed statement, the transaction can only continue from the savepoint. */
  override get wrote(): boolean {
    return super.wrote || this.willWrite || this.group.transaction.failure !== null;
  }
}
