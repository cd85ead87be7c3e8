import { CHAIN_START, verifyChunk } from '../../../shared/rules/ledger-chain.ts';
import type { Reader } from '../../../shared/store/engine/driver.ts';
import { ProjectReader } from '../../../shared/store/project-store.ts';
import { FIRST_ROW, type RowPosition } from '../../../shared/store/sums/row-sums.ts';
import { EmbeddedReader } from '../../../shared/store/engine/reader.ts';
import { ledgerKeyAad } from '../../commit/context/ledger-writer.ts';
import type { ProjectEntry } from './manifest.ts';
import { createVault } from '../../lib/vault.ts';

const PORTION = 1000;
/** Of 256 KB each, at most. */
const ROWS_AT_ONCE = 100;

export interface StoredBlob {
  readonly digest: string;
  readonly sizeBytes: number;
}

interface LedgerHead {
  readonly seq: number;
  readonly hash: string;
}

/** A project's database, mostly a copy that nobody writes to. */
export class ProjectCopy {
  readonly #id: string;
  readonly #reader: ProjectReader;

  /** Closing the copy closes the reader. */
  constructor(reader: Reader, projectId: string) {
    this.#id = projectId;
    this.#reader = new ProjectReader(reader, projectId);
  }

  static ofFile(path: string, projectId: string): ProjectCopy {
    return new ProjectCopy(new EmbeddedReader(path, { readOnly: true }), projectId);
  }

  /** How many migrations its schema has. */
  schema(): Promise<number> {
    return this.#reader.read((store) => store.meta.schemaVersion());
  }

  /** The project's position, and the newest entry of its ledger. */
  position(): Promise<Pick<ProjectEntry, 'position' | 'ledger'>> {
    return this.#reader.read(async (store) => {
      const head = await store.ledger.head();
      return {
        position: Number((await store.meta.get('commit_seq')) ?? 0),
        ledger: head ? { seq: head.seq, hash: head.hash, at: head.at } : null,
      };
    });
  }

  blobCount(): Promise<number> {
    return this.#reader.read((store) => store.blobs.count());
  }

  isReferenced(digest: string): Promise<boolean> {
    return this.#reader.read((store) => store.blobs.isReferenced(digest));
  }

  async *blobs(): AsyncGenerator<StoredBlob> {
    let after = '';
    for (;;) {
      const from = after;
      const rows = await this.#reader.read((store) => store.blobs.page(from, PORTION));
      for (const { digest, size_bytes } of rows) yield { digest, sizeBytes: size_bytes };
      const last = rows.at(-1);
      if (!last) return;
      after = last.digest;
    }
  }

  /** The rows that aren't as they were written, by the names that reads give them. */
  async *rowDamage(): AsyncGenerator<string> {
    for (let position: RowPosition | null = FIRST_ROW; position !== null;) {
      const from: RowPosition = position;
      const { damaged, next } = await this.#reader.read(({ rowSums }) =>
        rowSums.look(from, ROWS_AT_ONCE),
      );
      yield* damaged;
      position = next;
    }
  }

  /** What is wrong with the ledger, which has to end with the expected head; null if nothing is. */
  async ledgerProblem(head: LedgerHead | null): Promise<string | null> {
    const last = head?.seq ?? 0;
    const { ledger } = await this.position();
    if (ledger && ledger.seq > last) return `its ledger goes on after seq ${last}`;
    return this.chainProblem(head);
  }

  /** What is wrong with the ledger up to this head, after which a running gateway may have written more. */
  async chainProblem(head: LedgerHead | null): Promise<string | null> {
    let state = CHAIN_START;
    const last = head?.seq ?? 0;
    while (state.expectedSeq <= last) {
      const from = state.expectedSeq;
      const entries = await this.#reader.read((store) => store.ledger.range(from, last, PORTION));
      const verified = verifyChunk(this.#id, state, entries);
      if (!verified.ok) return `its ledger is broken at seq ${verified.fault.seq}`;
      if (entries.length === 0) return `its ledger ends before seq ${from}`;
      state = verified.state;
    }
    return head && state.prevHash !== head.hash ? 'its ledger has a different head' : null;
  }

  /** Whether secrets in the rows were sealed with this master key. */
  async opensWith(masterKey: Uint8Array): Promise<boolean> {
    const sealed = await this.#reader.read((store) => store.meta.get('ledger_key'));
    if (!(sealed instanceof Uint8Array)) return true;
    try {
      createVault(masterKey).open(ledgerKeyAad(this.#id), sealed);
      return true;
    } catch {
      return false;
    }
  }

  close(): Promise<void> {
    return this.#reader.close();
  }
}
