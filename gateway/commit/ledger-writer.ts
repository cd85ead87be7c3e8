import type { LedgerEntry } from '../../shared/rules/ledger-chain.ts';
import { keyedDigest } from '../../shared/rules/ledger-chain.ts';
import type { Repositories } from '../../shared/store/repositories.ts';

/** Something the service did by itself, as the ledger records it. */
interface ServiceAction {
  readonly op: string;
  readonly subject: string | null;
  readonly inputDigest?: string;
}

/** Where the key of a project's digests is sealed. */
export function ledgerKeyAad(projectId: string): string {
  return `meta|${projectId}|ledger_key|value`;
}

/** Speaks to the ledger for a project: it has the key of the project's digests. */
export class LedgerWriter {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** HMAC under a key of this project: low-entropy content cannot be guessed from its digest. */
  digest(value: unknown): string {
    return keyedDigest(this.#key, value);
  }

  /** Appends what the service did by itself to the ledger, in the transaction that did it. */
  async record(store: Repositories, action: ServiceAction, now: number): Promise<void> {
    const note: Omit<LedgerEntry, 'seq' | 'at' | 'prev_hash' | 'hash'> = {
      op: action.op,
      agent: null,
      platform: null,
      key_id: null,
      subject: action.subject,
      request_id: null,
      outcome: 'ok',
      code: null,
      input_digest: action.inputDigest ?? null,
      result_digest: null,
    };
    await store.ledger.append(note, now);
  }
}
