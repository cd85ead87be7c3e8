import type {
  BaseCopy,
  FollowedLog,
  Reader,
  ReplicationPosition,
  Tx,
  WriteOptions,
  Writer,
} from './driver.ts';
import type { DatabaseLocation } from './location.ts';
import { openReader, openWriter, type OpenWriterOptions } from './open.ts';
import { Repositories } from './repositories.ts';

/** Reads snapshots of one project's database through its repositories. */
export class ProjectReader {
  readonly #reader: Reader;
  readonly #projectId: string;

  constructor(reader: Reader, projectId: string) {
    this.#reader = reader;
    this.#projectId = projectId;
  }

  /** Open a writer first: it creates the database and updates its tables. */
  static async open(location: DatabaseLocation, projectId: string): Promise<ProjectReader> {
    return new ProjectReader(await openReader(location), projectId);
  }

  /** See `Reader.read`; `fn` must await only the repositories. */
  read<T>(fn: (store: Repositories) => Promise<T>): Promise<T> {
    return this.#reader.read((tx) => fn(new Repositories(tx, this.#projectId)));
  }

  close(): Promise<void> {
    return this.#reader.close();
  }
}

interface ProjectWriteOptions<T> extends Omit<WriteOptions<T>, 'onError'> {
  readonly onError?: (store: Repositories, error: unknown) => Promise<T>;
}

/** The only writer of one project's database, through its repositories. */
export class ProjectWriter implements FollowedLog {
  readonly #writer: Writer & FollowedLog;
  readonly #projectId: string;
  readonly #pinHolder: string | null;

  /** `pinHolder`: see `BlobRepository`. */
  constructor(writer: Writer & FollowedLog, projectId: string, pinHolder: string | null) {
    this.#writer = writer;
    this.#projectId = projectId;
    this.#pinHolder = pinHolder;
  }

  static async open(
    location: DatabaseLocation,
    projectId: string,
    options: OpenWriterOptions,
    pinHolder: string | null = null,
  ): Promise<ProjectWriter> {
    return new ProjectWriter(await openWriter(location, 'project', options), projectId, pinHolder);
  }

  /** See `Writer.write`; `fn` must await only the repositories. */
  write<T>(
    fn: (store: Repositories) => Promise<T>,
    options: ProjectWriteOptions<T> = {},
  ): Promise<T> {
    const { onError, ...rest } = options;
    const store = (tx: Tx) => new Repositories(tx, this.#projectId, this.#pinHolder);
    return this.#writer.write((tx) => fn(store(tx)), {
      ...rest,
      ...(onError && { onError: (tx: Tx, error: unknown) => onError(store(tx), error) }),
    });
  }

  get replication(): ReplicationPosition {
    return this.#writer.replication;
  }

  follow(): Promise<ReplicationPosition> {
    return this.#writer.follow();
  }

  copyBase(): Promise<BaseCopy> {
    return this.#writer.copyBase();
  }

  /** Also removes deleted content from the write-ahead log. */
  rotate(): Promise<void> {
    return this.#writer.rotate();
  }

  close(): Promise<void> {
    return this.#writer.close();
  }
}
