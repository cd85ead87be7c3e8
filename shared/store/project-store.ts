import type { Reader } from './engine/driver.ts';
import type { DatabaseLocation } from './engine/location.ts';
import { openReader } from './engine/open.ts';
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
