import type {
  BaseCopy,
  FollowedLog,
  Reader,
  Standing,
  Tx,
  WriteOptions,
  Writer,
} from './driver.ts';
import { POSITION_QUERY, POSITION_SQL } from './meta.ts';
import { migrate } from './migrate.ts';
import { EmbeddedReader } from './reader.ts';
import { Repositories } from './repositories.ts';
import { EmbeddedWriter, type ReplicationOptions, type WriterOptions } from './writer.ts';

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
    return this.#reader.read((tx) => fn(new Repositories(tx, this.#projectId)));
  }

  close(): Promise<void> {
    return this.#reader.close();
  }
}

interface ProjectWriteOptions<T> extends Omit<WriteOptions<T>, 'onError'> {
  readonly onError?: (store: Repositories, error: unknown) => Promise<T>;
}

interface ProjectWriterOptions extends Omit<WriterOptions, 'positionSql' | 'replication'> {
  readonly replication?: Omit<ReplicationOptions, 'positionQuery'>;
}

/** The one writer of one project's database, seen through its repositories. */
export class ProjectWriter implements FollowedLog {
  readonly #writer: Writer & FollowedLog;
  readonly #projectId: string;

  constructor(writer: Writer & FollowedLog, projectId: string) {
    this.#writer = writer;
    this.#projectId = projectId;
  }

  static openEmbedded(
    path: string,
    projectId: string,
    { replication, ...options }: ProjectWriterOptions,
  ): ProjectWriter {
    const writer = new EmbeddedWriter(
      path,
      {
        ...options,
        positionSql: POSITION_SQL,
        ...(replication && { replication: { ...replication, positionQuery: POSITION_QUERY } }),
      },
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
    return this.#writer.write((tx) => fn(new Repositories(tx, this.#projectId)), {
      ...rest,
      ...(onError && {
        onError: (tx: Tx, error: unknown) => onError(new Repositories(tx, this.#projectId), error),
      }),
    });
  }

  get standing(): Standing {
    return this.#writer.standing;
  }

  follow(): Promise<Standing> {
    return this.#writer.follow();
  }

  copyBase(): Promise<BaseCopy> {
    return this.#writer.copyBase();
  }

  /** Takes what was deleted out of the write-ahead log as well. */
  rotate(): Promise<void> {
    return this.#writer.rotate();
  }

  close(): Promise<void> {
    return this.#writer.close();
  }
}
