import { join } from 'node:path';
import type { FollowedLog, Reader, Writer } from '../../shared/store/engine/driver.ts';
import type { RemoteLocation } from '../../shared/store/engine/location.ts';
import { RemoteAuthority } from '../../shared/store/remote/authority.ts';
import { openClient } from '../../shared/store/remote/client.ts';
import { CREATE_LOG_SQL } from '../../shared/store/remote/group-log.ts';
import { RemoteReader } from '../../shared/store/remote/reader.ts';
import { mirroring, type MirrorOptions } from '../../shared/store/remote/mirror.ts';
import { EmbeddedReader } from '../../shared/store/engine/reader.ts';
import { EmbeddedWriter, type WriterOptions } from '../../shared/store/engine/writer.ts';
import { ITEMS, makeItems } from './database.ts';
import { temporaryFolder } from './gateway.ts';
import { startHrana, type HranaOptions, type HranaServer } from './hrana/server.ts';
import { SqldNamespaces } from './sqld-namespaces.ts';

const NAME = 'test';
const nothing = (): void => undefined;

type TemporaryFolder = ReturnType<typeof temporaryFolder>;
type MirrorWriterOptions = Partial<Omit<MirrorOptions, 'authority'> & WriterOptions>;

/** A libSQL server with one database, which has a table `item (name, value)`. */
export class RemoteDatabase {
  readonly server: HranaServer;
  readonly location: RemoteLocation;
  readonly #folder: TemporaryFolder;
  readonly #open: { close(): Promise<void> }[] = [];
  #mirrors = 0;

  private constructor(server: HranaServer, token: string | null, folder: TemporaryFolder) {
    this.server = server;
    const mirror = join(folder.path, 'mirror', 'test.db');
    this.location = { kind: 'remote', url: server.urlOf(NAME), token, mirror };
    this.#folder = folder;
  }

  static async start(options: Partial<HranaOptions> = {}): Promise<RemoteDatabase> {
    const folder = temporaryFolder();
    const server = await startHrana({ folder: folder.path, ...options });
    const started = new RemoteDatabase(server, options.token ?? null, folder);
    await makeItemsAt(started.location);
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

  /** A gateway's writer, with a mirror of its own that takes in everything from the beginning. */
  async writer(options: MirrorWriterOptions = {}): Promise<EmbeddedWriter> {
    return (await this.#writerAt(options)).writer;
  }

  /** Reads the server itself. */
  reader(): RemoteReader {
    const reader = new RemoteReader(openClient(this.location));
    this.#open.push(reader);
    return reader;
  }

  /** A gateway's writer, and what opens readers of its mirror. */
  async gateway(): Promise<{ readonly writer: EmbeddedWriter; newReader(): Reader }> {
    const { writer, path } = await this.#writerAt({});
    return {
      writer,
      newReader: () => {
        const reader = new EmbeddedReader(path);
        this.#open.unshift(reader);
        return reader;
      },
    };
  }

  async remove(): Promise<void> {
    this.server.faults.resume();
    for (const one of this.#open) await one.close();
    await this.server.stop();
    this.#folder.remove();
  }

  async #writerAt(
    options: MirrorWriterOptions,
  ): Promise<{ readonly writer: EmbeddedWriter; readonly path: string }> {
    this.#mirrors += 1;
    const path = join(this.#folder.path, `mirror-${this.#mirrors}.db`);
    const writer = mirrorWriter(this.location, path, options);
    this.#open.push(writer);
    await writer.resume();
    return { writer, path };
  }
}

async function makeItemsAt(location: RemoteLocation): Promise<void> {
  const client = openClient(location);
  await client.executeMultiple(`${ITEMS}; ${CREATE_LOG_SQL}`);
  client.close();
}

function mirrorWriter(
  location: RemoteLocation,
  path: string,
  {
    onForeign = nothing,
    onUndone = nothing,
    onUncertain = nothing,
    onOutdated = nothing,
    ...options
  }: MirrorWriterOptions,
): EmbeddedWriter {
  const authority = new RemoteAuthority(openClient(location));
  const mirror = mirroring({ authority, onForeign, onUndone, onUncertain, onOutdated });
  return new EmbeddedWriter(path, { onFatal: nothing, ...options, ...mirror }, makeItems);
}

interface OpenRemote {
  readonly database: Reader & Writer & Pick<FollowedLog, 'replication'>;
  newReader(): Reader;
  remove(): Promise<void>;
}

/** The same in the form in which `openDatabase` gives a file. */
export async function openRemoteDatabase(): Promise<OpenRemote> {
  const remote = await RemoteDatabase.start();
  const gateway = await remote.gateway();
  const newReader = (): Reader => gateway.newReader();
  return { database: both(gateway.writer, newReader()), newReader, remove: () => remote.remove() };
}

/** A database on libSQL's own server. */
export async function openSqldDatabase(): Promise<OpenRemote> {
  const namespaces = SqldNamespaces.onRunning();
  if (!namespaces) throw new Error('No server runs.');
  await namespaces.create(NAME);
  const folder = temporaryFolder();
  const path = join(folder.path, 'mirror.db');
  const url = namespaces.urlOf(NAME);
  const location = { kind: 'remote', url, token: null, mirror: path } as const;
  await makeItemsAt(location);
  const writer = mirrorWriter(location, path, {});
  await writer.resume();
  const readers: Reader[] = [];
  const newReader = (): Reader => {
    const reader = new EmbeddedReader(path);
    readers.push(reader);
    return reader;
  };
  return {
    database: both(writer, newReader()),
    newReader,
    async remove() {
      for (const one of [...readers, writer]) await one.close();
      folder.remove();
    },
  };
}

function both(writer: EmbeddedWriter, reader: Reader): OpenRemote['database'] {
  return {
    read: reader.read.bind(reader),
    write: writer.write.bind(writer),
    rotate: () => writer.rotate(),
    catchUp: () => writer.catchUp(),
    get replication() {
      return writer.replication;
    },
    async close() {
      await Promise.all([reader.close(), writer.close()]);
    },
  };
}
