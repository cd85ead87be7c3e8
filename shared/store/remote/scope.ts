import type { ResultSet } from '@libsql/client/http';
import { onlyReads } from '../bindings.ts';
import type { Row, SqlValue, Tx } from '../driver.ts';
import { awaitedOther, hasEnded } from '../scope.ts';
import type { RemoteTransaction } from './transaction.ts';

/** Runs the statements of one snapshot or job until it is revoked. */
export class RemoteScope implements Tx {
  readonly #transaction: RemoteTransaction;
  #live = true;
  #wrote = false;

  constructor(transaction: RemoteTransaction) {
    this.#transaction = transaction;
  }

  /** True once a statement may have changed something. */
  get wrote(): boolean {
    return this.#wrote;
  }

  revoke(): void {
    this.#live = false;
  }

  async get<T extends Row>(sql: string, params?: readonly SqlValue[]): Promise<T | undefined> {
    const [row] = await this.all<T>(sql, params);
    return row;
  }

  async all<T extends Row>(sql: string, params?: readonly SqlValue[]): Promise<T[]> {
    const transaction = this.#open(sql);
    const result = await (this.foreseen(sql, params) ?? transaction.ask(sql, params));
    return toRows(result) as T[];
  }

  async run(sql: string, params?: readonly SqlValue[]): Promise<number> {
    this.#wrote = true;
    const { rowsAffected } = await this.#open(sql).ask(sql, params);
    return rowsAffected;
  }

  async put(sql: string, params?: readonly SqlValue[]): Promise<void> {
    this.#wrote = true;
    const transaction = this.#open(sql);
    transaction.put(sql, params);
    if (transaction.isFull) await transaction.flush();
  }

  /** The answer to a query that was sent ahead; null if it wasn't. */
  protected foreseen(_sql: string, _params?: readonly SqlValue[]): Promise<ResultSet> | null {
    return null;
  }

  #open(sql: string): RemoteTransaction {
    if (!this.#live) throw hasEnded();
    if (onlyReads(sql)) return this.#transaction;
    if (this.#transaction.mode === 'read') throw new Error('A snapshot is read-only.');
    if (/\bRETURNING\b/i.test(sql)) throw new Error('RETURNING is not supported.');
    this.#wrote = true;
    return this.#transaction;
  }
}

/**
 * Fails work that awaits anything but its statements, because it would hold the transaction open for everyone else. If
 * it isn't waiting for an answer, it must settle or send another statement by the next turn of the event loop.
 */
export function withinStatements<T>(transaction: RemoteTransaction, work: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let turn: NodeJS.Immediate | undefined;
    const look = (): void => {
      clearImmediate(turn);
      turn = setImmediate(() => {
        if (!transaction.isWaiting) reject(awaitedOther());
      });
    };
    const end = (): void => {
      clearImmediate(turn);
      if (transaction.onAnswer === look) transaction.onAnswer = null;
    };
    transaction.onAnswer = look;
    look();
    work.finally(end).then(resolve, reject);
  });
}

function toRows({ columns, rows }: ResultSet): Row[] {
  return rows.map((values) => {
    const row: Row = {};
    columns.forEach((name, index) => {
      row[name] = toValue(values[index]);
    });
    return row;
  });
}

/** Converts a value to the embedded driver's form: integers as numbers, bytes as a Buffer. */
function toValue(value: unknown): SqlValue {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof ArrayBuffer) return Buffer.from(value);
  return (value ?? null) as SqlValue;
}
