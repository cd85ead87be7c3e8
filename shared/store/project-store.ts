import { BlobRepository } from './blobs.ts';
import { DiskRepository } from './disk.ts';
import type { Reader, Tx, WriteOptions, Writer } from './driver.ts';
import { EventRepository } from './events.ts';
import { FileLinkRepository } from './file-links.ts';
import { FileRepository } from './files.ts';
import { IdempotencyRepository } from './idempotency.ts';
import { KeyRepository } from './keys.ts';
import { KvRepository } from './kv.ts';
import { LedgerRepository } from './ledger.ts';
import { MetaRepository, POSITION_SQL } from './meta.ts';
import { migrate } from './migrate.ts';
import { EmbeddedReader } from './reader.ts';
import { RequestRepository } from './requests.ts';
import { SourceRepository } from './sources.ts';
import { UploadRepository } from './uploads.ts';
import { EmbeddedWriter, type WriterOptions } from './writer.ts';

/** Every table family of one project, over one transaction or snapshot. */
export interface Repositories {
  readonly keys: KeyRepository;
  readonly sources: SourceRepository;
  readonly events: EventRepository;
  readonly ledger: LedgerRepository;
  readonly idempotency: IdempotencyRepository;
  readonly blobs: BlobRepository;
  readonly disk: DiskRepository;
  readonly kv: KvRepository;
  readonly files: FileRepository;
  readonly uploads: UploadRepository;
  readonly fileLinks: FileLinkRepository;
  readonly requests: RequestRepository;
  readonly meta: MetaRepository;
}

/** Snapshots of one project's database, seen through its repositories. */
export class ProjectReader {
  readonly #reader: Reader;
  readonly #projectId: string;

  constructor(reader: Reader, projectId: string) {
    this.#reader = reader;
    this.#projectId = projectId;
  }

  /** The writer has been opened before: it makes the file and brings its tables up to date. */
  static openEmbedded(path: string, projectId: string): ProjectReader {
    return new ProjectReader(new EmbeddedReader(path), projectId);
  }

  /** See `Reader.read`; `fn` awaits nothing but the repositories. */
  read<T>(fn: (store: Repositories) => Promise<T>): Promise<T> {
    return this.#reader.read((tx) => fn(repositories(tx, this.#projectId)));
  }

  close(): Promise<void> {
    return this.#reader.close();
  }
}

interface ProjectWriteOptions<T> extends Omit<WriteOptions<T>, 'onError'> {
  readonly onError?: (store: Repositories, error: unknown) => Promise<T>;
}

/** The one writer of one project's database, seen through its repositories. */
export class ProjectWriter {
  readonly #writer: Writer;
  readonly #projectId: string;

  constructor(writer: Writer, projectId: string) {
    this.#writer = writer;
    this.#projectId = projectId;
  }

  static openEmbedded(
    path: string,
    projectId: string,
    options: Omit<WriterOptions, 'positionSql'>,
  ): ProjectWriter {
    const writer = new EmbeddedWriter(
      path,
      { ...options, positionSql: POSITION_SQL },
      (connection) => migrate(connection, 'project'),
    );
    return new ProjectWriter(writer, projectId);
  }

  /** See `Writer.write`; `fn` awaits nothing but the repositories. */
  write<T>(
    fn: (store: Repositories) => Promise<T>,
    options: ProjectWriteOptions<T> = {},
  ): Promise<T> {
    const { onError, ...rest } = options;
    return this.#writer.write((tx) => fn(repositories(tx, this.#projectId)), {
      ...rest,
      ...(onError && {
        onError: (tx: Tx, error: unknown) => onError(repositories(tx, this.#projectId), error),
      }),
    });
  }

  /** Takes what was deleted out of the write-ahead log as well. */
  rotate(): Promise<void> {
    return this.#writer.rotate();
  }

  close(): Promise<void> {
    return this.#writer.close();
  }
}

function repositories(tx: Tx, projectId: string): Repositories {
  return {
    keys: new KeyRepository(tx),
    sources: new SourceRepository(tx),
    events: new EventRepository(tx),
    ledger: new LedgerRepository(tx, projectId),
    idempotency: new IdempotencyRepository(tx),
    blobs: new BlobRepository(tx),
    disk: new DiskRepository(tx),
    kv: new KvRepository(tx),
    files: new FileRepository(tx),
    uploads: new UploadRepository(tx),
    fileLinks: new FileLinkRepository(tx),
    requests: new RequestRepository(tx),
    meta: new MetaRepository(tx),
  };
}
