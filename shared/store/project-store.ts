import { BlobRepository } from './blobs.ts';
import type { Database, Tx, WriteTx } from './driver.ts';
import { EmbeddedDatabase } from './embedded.ts';
import { EventRepository } from './events.ts';
import { IdempotencyRepository } from './idempotency.ts';
import { KeyRepository } from './keys.ts';
import { LedgerRepository } from './ledger.ts';
import { MetaRepository, POSITION_SQL } from './meta.ts';
import { migrate } from './migrate.ts';
import { SourceRepository } from './sources.ts';

/** Every table family of one project, over one transaction or snapshot. */
export interface Repositories {
  readonly keys: KeyRepository;
  readonly sources: SourceRepository;
  readonly events: EventRepository;
  readonly ledger: LedgerRepository;
  readonly idempotency: IdempotencyRepository;
  readonly blobs: BlobRepository;
  readonly meta: MetaRepository;
}

/** The database of one project, seen through its repositories. */
export class ProjectStore {
  readonly #database: Database;
  readonly #projectId: string;

  constructor(database: Database, projectId: string) {
    this.#database = database;
    this.#projectId = projectId;
  }

  static openEmbedded(
    path: string,
    projectId: string,
    onFatal: (error: unknown) => void,
  ): ProjectStore {
    const database = new EmbeddedDatabase(
      path,
      { positionSql: POSITION_SQL, onFatal },
      (connection) => migrate(connection, 'project'),
    );
    return new ProjectStore(database, projectId);
  }

  read<T>(fn: (store: Repositories) => Promise<T>): Promise<T> {
    return this.#database.read((tx) => fn(this.#repositories(tx)));
  }

  /** See `Database.write`; `fn` awaits nothing but the repositories. */
  write<T>(
    fn: (store: Repositories, tx: WriteTx) => Promise<T>,
    options: {
      sizeBytes?: number;
      onError?: (store: Repositories, error: unknown, tx: WriteTx) => Promise<T>;
    } = {},
  ): Promise<T> {
    const { onError, sizeBytes } = options;
    return this.#database.write((tx) => fn(this.#repositories(tx), tx), {
      ...(sizeBytes !== undefined && { sizeBytes }),
      ...(onError && {
        onError: (tx: WriteTx, error: unknown) => onError(this.#repositories(tx), error, tx),
      }),
    });
  }

  /** Takes what was deleted out of the write-ahead log as well. */
  rotate(): Promise<void> {
    return this.#database.rotate();
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  #repositories(tx: Tx): Repositories {
    return {
      keys: new KeyRepository(tx),
      sources: new SourceRepository(tx),
      events: new EventRepository(tx),
      ledger: new LedgerRepository(tx, this.#projectId),
      idempotency: new IdempotencyRepository(tx),
      blobs: new BlobRepository(tx),
      meta: new MetaRepository(tx),
    };
  }
}
