import { EventEmitter, once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FileBlobStore } from '../../../gateway/blobs/blob-store.ts';
import type { S3BlobStore } from '../../../gateway/blobs/s3-blob-store.ts';
import { SharedPins, type Erasure } from '../../../gateway/cluster/shared-pins.ts';
import type { Effect, Job, Command } from '../../../gateway/commit/context/job.ts';
import {
  commands,
  type InputOf,
  type OutputOf,
  type CommandName,
} from '../../../gateway/commit/commands.ts';
import type { FollowedLog, Writer } from '../../../shared/store/engine/driver.ts';
import { openReader, openWriter } from '../../../shared/store/engine/open.ts';
import { ProjectReader } from '../../../shared/store/project-store.ts';
import type { Repositories } from '../../../shared/store/repositories.ts';
import { FakeClock, temporaryFolder } from '../../helpers/gateway.ts';
import { ProjectWriter } from '../../helpers/project-writer.ts';

const PROJECT = 'prj_0000000000000000';

/** A point of a gateway's work: before or after a transaction, or a step of an erasure. */
export type Point = `${'before' | 'after'} ${CommandName | 'name' | 'take' | 'finish'}`;

type Blobs = FileBlobStore | S3BlobStore;
type OpenBlobs = (onFree: (digest: string) => void, pins: SharedPins) => Blobs;

/** A database and a folder of blobs that several gateways share. */
export class SharedStore {
  readonly clock = new FakeClock(Date.now());
  readonly folder: string;
  readonly #writer: Writer & FollowedLog;
  readonly #reader: ProjectReader;
  readonly #remove: () => void;

  private constructor(parts: {
    writer: Writer & FollowedLog;
    reader: ProjectReader;
    folder: string;
    remove: () => void;
  }) {
    this.#writer = parts.writer;
    this.#reader = parts.reader;
    this.folder = parts.folder;
    this.#remove = parts.remove;
  }

  static async open(): Promise<SharedStore> {
    const { path, remove } = temporaryFolder();
    const location = { kind: 'file', path: join(path, 'project.db') } as const;
    const writer = await openWriter(location, 'project', {
      onFatal: () => undefined,
      replication: { now: () => Date.now(), onReplication: () => undefined },
    });
    const reader = new ProjectReader(await openReader(location), PROJECT);
    return new SharedStore({ writer, reader, folder: join(path, 'blobs'), remove });
  }

  /** One of the gateways, by a name that nobody else has. `open` for blobs that are not in the folder. */
  gateway(name: string, open?: OpenBlobs): SharedGateway {
    const writer = new ProjectWriter(this.#writer, PROJECT, name);
    return new SharedGateway({ store: this, writer, holder: name, open });
  }

  read<T>(fn: (store: Repositories) => Promise<T>): Promise<T> {
    return this.#reader.read(fn);
  }

  get position(): number {
    return this.#writer.replication.position;
  }

  /** How many pins and erasures there are, lapsed or not. */
  async marks(): Promise<number> {
    return this.read(async ({ blobPins }) => ((await blobPins.nextExpiry()) === null ? 0 : 1));
  }

  isNamed(digest: string): Promise<boolean> {
    return this.read((store) => store.blobs.isReferenced(digest));
  }

  /** What is in place under a digest; null for nothing. */
  bytes(digest: string): string | null {
    const path = join(this.folder, digest.slice(0, 2), digest);
    return existsSync(path) ? readFileSync(path, 'utf8') : null;
  }

  /** The names of all files: blobs, bytes that come in, and those on their way out. */
  files(): string[] {
    if (!existsSync(this.folder)) return [];
    return readdirSync(this.folder)
      .flatMap((part) => readdirSync(join(this.folder, part)))
      .toSorted();
  }

  async close(): Promise<void> {
    await this.#reader.close();
    await this.#writer.close();
    this.#remove();
  }
}

/** A gateway as far as blobs go. Its work passes points at which a test may stop it. */
export class SharedGateway {
  readonly blobs: Blobs;
  /** What runs that nobody waits for. Those that failed are in `errors`. */
  readonly background = new Set<Promise<void>>();
  readonly errors: unknown[] = [];
  /** Called at each point; what it answers is waited for, and may reject. */
  at: (point: Point) => Promise<void> = async () => undefined;
  readonly #store: SharedStore;
  readonly #writer: ProjectWriter;

  constructor(parts: {
    store: SharedStore;
    writer: ProjectWriter;
    holder: string;
    open?: OpenBlobs | undefined;
  }) {
    const { store, writer, holder } = parts;
    this.#store = store;
    this.#writer = writer;
    const pins = new SteppedPins(this, store.clock, { holder, waitsMs: [1, 1, 1, 50, 50] });
    const open: OpenBlobs = (onFree, shared) => new FileBlobStore(store.folder, onFree, shared);
    this.blobs = (parts.open ?? open)((digest) => this.#begin(digest), pins);
  }

  /** Stops its work at a point until it is let go; `reached` resolves when it is there. */
  stopAt(wanted: Point): { readonly reached: Promise<void>; readonly go: () => void } {
    const events = new EventEmitter();
    const reached = once(events, 'reached').then(() => undefined);
    const gone = once(events, 'go');
    this.at = async (point) => {
      if (point !== wanted) return;
      events.emit('reached');
      await gone;
    };
    return { reached, go: () => void events.emit('go') };
  }

  async run<N extends CommandName>(name: N, input: InputOf<N>): Promise<OutputOf<N>> {
    const { run } = commands[name] as unknown as Command<InputOf<N>, OutputOf<N>>;
    let effects: Effect[] = [];
    await this.at(`before ${name}`);
    const output = await this.#writer.write((store) => {
      effects = [];
      return run(
        { store, emit: (effect: Effect) => effects.push(effect) } as unknown as Job,
        input,
      );
    });
    await this.at(`after ${name}`);
    for (const effect of effects) if (effect.kind === 'blob_dropped') this.#begin(effect.digest);
    return output;
  }

  /** Writes as no command does: for what a test finds there to begin with. */
  write<T>(fn: (store: Repositories) => Promise<T>): Promise<T> {
    return this.#writer.write(fn);
  }

  /** A row names the blob once more. */
  async name(digest: string, sizeBytes: number): Promise<void> {
    await this.at('before name');
    await this.#writer.write((store) => store.blobs.addReference(digest, sizeBytes));
  }

  /** A row less names the blob; the last one takes it along. */
  async drop(digest: string): Promise<void> {
    const isLast = await this.#writer.write((store) => store.blobs.dropReference(digest));
    if (isLast) await this.remove(digest);
  }

  remove(digest: string): Promise<void> {
    return this.blobs.remove(digest, (one) => this.#store.isNamed(one));
  }

  sweep(): Promise<void> {
    return this.blobs.sweep((one) => this.#store.isNamed(one), this.#store.clock.now());
  }

  /** Upkeep of what has lapsed. */
  async dropPins(): Promise<void> {
    const now = this.#store.clock.now();
    await this.run('dropPins', { now, asOf: now, limit: 100 });
    await this.settled();
  }

  async settled(): Promise<void> {
    while (this.background.size > 0) await Promise.all(this.background);
  }

  #begin(digest: string): void {
    const running = this.remove(digest)
      .catch((error: unknown) => void this.errors.push(error))
      .finally(() => this.background.delete(running));
    this.background.add(running);
  }
}

/** Stops at the steps of an erasure as well. */
class SteppedPins extends SharedPins {
  readonly #gateway: SharedGateway;

  constructor(gateway: SharedGateway, ...rest: Tail<ConstructorParameters<typeof SharedPins>>) {
    super(gateway, ...rest);
    this.#gateway = gateway;
  }

  override erase(
    digest: string,
    begin: () => Promise<Erasure>,
    isPostponed: () => Promise<boolean>,
  ): Promise<void> {
    const at = (point: Point): Promise<void> => this.#gateway.at(point);
    const stepped = async (): Promise<Erasure> => {
      const erasure = await begin();
      return {
        async take() {
          await at('before take');
          await erasure.take();
          await at('after take');
        },
        async finish(isClaimed) {
          await at('before finish');
          await erasure.finish(isClaimed);
          await at('after finish');
        },
      };
    };
    return super.erase(digest, stepped, isPostponed);
  }
}

type Tail<T extends readonly unknown[]> = T extends readonly [unknown, ...infer R] ? R : never;
