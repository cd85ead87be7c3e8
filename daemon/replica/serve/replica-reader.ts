import { unavailable } from '../../../shared/lib/errors.ts';
import { isDamage, isDiskFailure } from '../../../shared/store/engine/connection.ts';
import type { Reader, Tx } from '../../../shared/store/engine/driver.ts';
import { MetaRepository } from '../../../shared/store/tables/meta.ts';
import { EmbeddedReader } from '../../../shared/store/engine/reader.ts';

/** The replica contains something that our gateway never creates. */
class StrangeSchemaError extends Error {}

/** A replica's position and schema. */
export interface CopyPosition {
  readonly position: number;
  readonly schemaVersion: number;
}

/**
 * Snapshots of the replica. Each one first checks that this release knows the schema, because a sync can change it at
 * any time. Rejects with UNAVAILABLE, so that the caller asks the gateway, for another schema and for a damaged file.
 * A file with views, triggers or virtual tables counts as damaged.
 */
export class ReplicaReader implements Reader {
  readonly #reader: EmbeddedReader;
  readonly #schemaVersion: number;
  readonly #onDamage: (error: Error) => void;
  /** The schema cookie that we last found to have only tables and indexes. */
  #plainCookie: number | null = null;
  /** The schema cookie that we last found to have this release's version. */
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
      // The log may begin before the first table exists.
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
      if (!isUseless(error)) throw error;
      this.#onDamage(error);
      throw unavailable(1, error);
    }
  }

  /** A view or virtual table in place of a table could run somebody else's code, for any length of time. */
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

  /** A changed table also changes the schema cookie, so one lookup per snapshot covers both. */
  async #requireKnown(tx: Tx, cookie: number): Promise<void> {
    if ((await new MetaRepository(tx).schemaVersion()) !== this.#schemaVersion) {
      throw unavailable(1, new Error('The copy has other tables than this release knows.'));
    }
    this.#knownCookie = cookie;
  }
}

/** The copy must be made again. */
function isUseless(error: unknown): error is Error {
  return isDamage(error) || isDiskFailure(error) || error instanceof StrangeSchemaError;
}
