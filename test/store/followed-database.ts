import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Connection } from '../../shared/store/engine/connection.ts';
import type { LogPosition, ReplicationPosition } from '../../shared/store/engine/driver.ts';
import { EmbeddedWriter } from '../../shared/store/engine/writer.ts';
import { makeItems } from '../helpers/database.ts';
import { FakeClock, temporaryFolder } from '../helpers/gateway.ts';

const MB = 1024 * 1024;

/** A database `item (name, value)` that replicas may follow, in its own folder. */
export class FollowedDatabase {
  readonly path: string;
  readonly clock = new FakeClock(Date.now());
  /** Reported positions, newest last. */
  readonly told: ReplicationPosition[] = [];
  writer: EmbeddedWriter;
  readonly #fatal: unknown[] = [];
  readonly #strangers: Connection[] = [];
  readonly #removeFolder: () => void;

  constructor() {
    const folder = temporaryFolder();
    this.path = join(folder.path, 'test.db');
    this.#removeFolder = folder.remove;
    this.writer = this.#open();
  }

  /** Closes it if it's open, and opens it again. */
  async reopen(): Promise<void> {
    await this.writer.close();
    this.writer = this.#open();
  }

  /** The log's position. Throws while nobody follows. */
  get place(): LogPosition {
    const { log } = this.writer.replication;
    if (!log) throw new Error('Nobody follows.');
    return log;
  }

  put(name: string, value: string | Uint8Array = name): Promise<number> {
    return this.writer.write((tx) => tx.run('INSERT INTO item VALUES (?, ?)', [name, value]));
  }

  delete(name: string): Promise<number> {
    return this.writer.write((tx) => tx.run('DELETE FROM item WHERE name = ?', [name]));
  }

  /** Writes more than the page cache holds, which goes to the log, and takes it back. */
  async takeBack(): Promise<void> {
    const given = this.writer.write(async (tx) => {
      for (let n = 0; n < 40; n += 1) {
        await tx.run('INSERT INTO item VALUES (?, ?)', [`taken-back-${n}`, Buffer.alloc(MB, n)]);
      }
      throw new Error('taken back');
    });
    await given.catch(() => undefined);
  }

  inside(name: string): string {
    return join(this.path, '..', 'generations', name);
  }

  files(): string[] {
    return readdirSync(this.inside('.')).toSorted();
  }

  wal(): Buffer {
    return readFileSync(`${this.path}-wal`);
  }

  state(): object {
    return JSON.parse(readFileSync(this.inside('state.json'), 'utf8')) as object;
  }

  /** Another connection to the file. */
  stranger(): Connection {
    const connection = new Connection(this.path);
    this.#strangers.push(connection);
    return connection;
  }

  /** Another connection that holds a snapshot of now until released. */
  readingStranger(): () => void {
    const connection = this.stranger();
    connection.exec('BEGIN');
    connection.get('SELECT count(*) AS n FROM item');
    return () => connection.exec('COMMIT');
  }

  async remove(): Promise<void> {
    for (const one of this.#strangers) one.close();
    await this.writer.close();
    this.#removeFolder();
    if (this.#fatal.length > 0) throw new AggregateError(this.#fatal);
  }

  #open(): EmbeddedWriter {
    const options = {
      onFatal: (error: unknown) => this.#fatal.push(error),
      replication: {
        now: () => this.clock.now(),
        onReplication: (replication: ReplicationPosition) => this.told.push(replication),
      },
    };
    return new EmbeddedWriter(this.path, options, makeItems);
  }
}
