import { unavailable } from '../../shared/lib/errors.ts';
import { isDiskFailure } from '../../shared/store/connection.ts';
import type { Reader, Tx } from '../../shared/store/driver.ts';
import { MetaRepository } from '../../shared/store/meta.ts';
import { EmbeddedReader } from '../../shared/store/reader.ts';

/** There is something in the copy that no gateway of ours makes. */
class StrangeSchemaError extends Error {}

/** How far a copy is, and which tables it has. */
export interface CopyPosition {
  readonly position: number;
  readonly schemaVersion: number;
}

/**
 * Snapshots of the copy. Each looks first whether the tables are those this release knows: what comes from the gateway may
 * change them at any time. Where they are not, or the file is damaged, it rejects with UNAVAILABLE: the gateway knows
 * better. So is a file with views, triggers or virtual tables.
 */
export class ReplicaReader implements Reader {
  readonly #reader: EmbeddedReader;
  readonly #schemaVersion: number;
  readonly #onDamage: (error: Error) => void;
  /** Of the schema that was found to be of tables and indexes alone. */
  #plainCookie: number | null = null;
  /** Of the schema that has the version of this release. */
  #knownCookie: number | null = null;

  constructor(path: string, schemaVersion: number, onDamage: (error: Error) => void) {
    this.#reader = new EmbeddedReader(path, { readOnly: true });
    this.#schemaVersion = schemaVersion;
    this.#onDamage = onDamage;
  }

  read<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#guard(async (tx) => {
      const cookie = await this.#requirePlain(tx);
      if (cookie !== this.#knownCookie) await this.#requireKnown(tx, cookie);
      return fn(tx);
    });
  }

  position(): Promise<CopyPosition> {
    return this.#guard(async (tx) => {
      await this.#requirePlain(tx);
      const meta = new MetaRepository(tx);
      const schemaVersion = await meta.schemaVersion();
      // The log may begin before the first table was made.
      const position = schemaVersion === 0 ? 0 : Number(await meta.get('commit_seq'));
      return { position, schemaVersion };
    });
  }

  close(): Promise<void> {
    return this.#reader.close();
  }

  async #guard<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await this.#reader.read(fn);
    } catch (error) {
      if (!isDiskFailure(error) && !(error instanceof StrangeSchemaError)) throw error;
      this.#onDamage(error);
      throw unavailable(1, error);
    }
  }

  /** A view or a virtual table in the place of a table would run what somebody else wrote, and as long as they like. */
  async #requirePlain(tx: Tx): Promise<number> {
    const meta = new MetaRepository(tx);
    const cookie = await meta.schemaCookie();
    if (cookie === this.#plainCookie) return cookie;
    this.#plainCookie = null;
    const name = await meta.strangeName();
    if (name !== null) {
      throw new StrangeSchemaError(`It has "${name}", which isn't a plain table or index.`);
    }
    this.#plainCookie = cookie;
    return cookie;
  }

  /** A release that changes tables changes the number of the schema, too: one look a snapshot tells of both. */
  async #requireKnown(tx: Tx, cookie: number): Promise<void> {
    if ((await new MetaRepository(tx).schemaVersion()) !== this.#schemaVersion) {
      throw unavailable(1, new Error('The copy has other tables than this release knows.'));
    }
    this.#knownCookie = cookie;
  }
}
