import { unavailable } from '../../shared/errors.ts';
import { isDiskFailure } from '../../shared/store/connection.ts';
import type { Reader, Tx } from '../../shared/store/driver.ts';
import { MetaRepository } from '../../shared/store/meta.ts';
import { EmbeddedReader } from '../../shared/store/reader.ts';

/** How far a copy is, and which tables it has. */
export interface CopyStanding {
  readonly position: number;
  readonly schemaVersion: number;
}

/**
 * Snapshots of the copy. Each looks first whether the tables are those this release knows: what comes from the gateway may
 * change them at any time. Where they are not, or the file is damaged, it rejects with UNAVAILABLE: the gateway knows better.
 */
export class ReplicaReader implements Reader {
  readonly #reader: EmbeddedReader;
  readonly #schemaVersion: number;
  readonly #onDamage: (error: Error) => void;

  constructor(path: string, schemaVersion: number, onDamage: (error: Error) => void) {
    this.#reader = new EmbeddedReader(path, { readOnly: true });
    this.#schemaVersion = schemaVersion;
    this.#onDamage = onDamage;
  }

  read<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#guard(async (tx) => {
      if ((await new MetaRepository(tx).schemaVersion()) !== this.#schemaVersion) {
        throw unavailable(1, new Error('The copy has other tables than this release knows.'));
      }
      return fn(tx);
    });
  }

  standing(): Promise<CopyStanding> {
    return this.#guard(async (tx) => {
      const meta = new MetaRepository(tx);
      const schemaVersion = await meta.schemaVersion();
      return { position: Number(await meta.get('commit_seq')), schemaVersion };
    });
  }

  close(): Promise<void> {
    return this.#reader.close();
  }

  async #guard<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await this.#reader.read(fn);
    } catch (error) {
      if (!isDiskFailure(error)) throw error;
      this.#onDamage(error as Error);
      throw unavailable(1, error);
    }
  }
}
