import type { LedgerEntry } from '../../shared/rules/ledger-chain.ts';
import { keyedDigest } from '../../shared/rules/ledger-chain.ts';
import type { Repositories } from '../../shared/store/repositories.ts';

/** An action of the service, without a caller. */
interface ServiceAction {
  readonly op: string;
  readonly subject: string | null;
  readonly inputDigest?: string;
}

/** The additional data that seals a project's digest key. */
export function ledgerKeyAad(projectId: string): string {
  return `meta|${projectId}|ledger_key|value`;
}

/** Writes to a project's ledger; it holds the project's digest key. */
export class LedgerWriter {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** HMAC under this project's key, so that nobody can guess low-entropy content from its digest. */
  digest(value: unknown): string {
    return keyedDigest(this.#key, value);
  }

  /** Appends an action of the service to the ledger, in the transaction of that action. */
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
