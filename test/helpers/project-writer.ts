import type { DatabaseLocation } from '../../shared/store/engine/location.ts';
import type { FollowedLog, Writer } from '../../shared/store/engine/driver.ts';
import { openWriter, type OpenWriterOptions } from '../../shared/store/engine/open.ts';
import { Repositories } from '../../shared/store/repositories.ts';

/** Writes to a project's tables as no command does. */
export class ProjectWriter {
  readonly queue: Writer & FollowedLog;
  readonly #projectId: string;
  readonly #pinHolder: string | null;

  constructor(queue: Writer & FollowedLog, projectId: string, pinHolder: string | null = null) {
    this.queue = queue;
    this.#projectId = projectId;
    this.#pinHolder = pinHolder;
  }

  static async open(
    location: DatabaseLocation,
    projectId: string,
    options: OpenWriterOptions = { onFatal: () => undefined },
  ): Promise<ProjectWriter> {
    return new ProjectWriter(await openWriter(location, 'project', options), projectId);
  }

  write<T>(fn: (store: Repositories) => Promise<T>): Promise<T> {
    return this.queue.write((tx) => fn(new Repositories(tx, this.#projectId, this.#pinHolder)));
  }

  close(): Promise<void> {
    return this.queue.close();
  }
}
