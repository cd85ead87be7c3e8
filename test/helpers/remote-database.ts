import type { FollowedLog, Reader, Writer } from '../../shared/store/driver.ts';
import type { RemoteLocation } from '../../shared/store/location.ts';
import { POSITION_QUERY } from '../../shared/store/meta.ts';
import { openClient } from '../../shared/store/remote/client.ts';
import { RemoteReader } from '../../shared/store/remote/reader.ts';
import { RemoteWriter, type RemoteWriterOptions } from '../../shared/store/remote/writer.ts';
import { ITEMS } from './database.ts';
import { temporaryFolder } from './gateway.ts';
import { startHrana, type HranaOptions, type HranaServer } from './hrana/server.ts';

const NAME = 'test';

type TemporaryFolder = ReturnType<typeof temporaryFolder>;

/** A libSQL server with one database, which has a table `item (name, value)`. */
export class RemoteDatabase {
  readonly server: HranaServer;
  readonly location: RemoteLocation;
  readonly #folder: TemporaryFolder;
  readonly #open: { close(): Promise<void> }[] = [];

  private constructor(server: HranaServer, token: string | null, folder: TemporaryFolder) {
    this.server = server;
    this.location = { kind: 'remote', url: server.urlOf(NAME), token };
    this.#folder = folder;
  }

  static async start(options: Partial<HranaOptions> = {}): Promise<RemoteDatabase> {
    const folder = temporaryFolder();
    const server = await startHrana({ folder: folder.path, ...options });
    const started = new RemoteDatabase(server, options.token ?? null, folder);
    const client = openClient(started.location);
    await client.executeMultiple(ITEMS);
    client.close();
    return started;
  }

  /** What the server counted of the database since `resetCounters`. */
  get counters(): ReturnType<HranaServer['counters']> {
    return this.server.counters(NAME);
  }

  /** Streams of the database that were not ended. */
  get openStreams(): number {
    return this.server.openStreams(NAME);
  }

  async writer(options: RemoteWriterOptions = {}): Promise<RemoteWriter> {
    const client = openClient(this.location);
    const { rows } = await client.execute(POSITION_QUERY);
    const writer = new RemoteWriter(client, Number(rows[0]?.['value']), options);
    this.#open.push(writer);
    return writer;
  }

  reader(): RemoteReader {
    const reader = new RemoteReader(openClient(this.location));
    this.#open.push(reader);
    return reader;
  }

  async remove(): Promise<void> {
    this.server.faults.resume();
    await Promise.all(this.#open.map((one) => one.close()));
    await this.server.stop();
    this.#folder.remove();
  }
}

/** The same in the form in which `openDatabase` gives a file. */
export async function openRemoteDatabase(): Promise<{
  readonly database: Reader & Writer & Pick<FollowedLog, 'replication'>;
  newReader(): Reader;
  remove(): Promise<void>;
}> {
  const remote = await RemoteDatabase.start();
  const [writer, reader] = [await remote.writer(), remote.reader()];
  const database = {
    read: reader.read.bind(reader),
    write: writer.write.bind(writer),
    rotate: () => writer.rotate(),
    get replication() {
      return writer.replication;
    },
    async close() {
      await Promise.all([reader.close(), writer.close()]);
    },
  };
  return { database, newReader: () => remote.reader(), remove: () => remote.remove() };
}
