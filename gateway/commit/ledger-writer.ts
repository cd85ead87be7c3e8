import { randomBytes } from 'node:crypto';
import { canonicalJson } from '../../shared/rules/canonical-json.ts';
import type { LedgerEntry } from '../../shared/rules/ledger-chain.ts';
import { keyedDigest, openDigest } from '../../shared/rules/ledger-chain.ts';
import type { Repositories } from '../../shared/store/repositories.ts';

/** An action of the service, without a caller. */
interface ServiceAction {
  readonly op: string;
  readonly subject: string | null;
  readonly inputDigest?: string;
}

/** The same, about an event. */
interface OpenAction {
  readonly op: string;
  readonly subject: string;
  readonly eventId: string;
  readonly about: unknown;
}

const SALT_BYTES = 32;

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
  record(store: Repositories, action: ServiceAction, now: number): Promise<number> {
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
    return store.ledger.append(note, now);
  }

  /** The same with a digest that anybody can check who is shown the salt and the value, both kept under the event. */
  async recordOpen(
    store: Repositories,
    { op, subject, eventId, about }: OpenAction,
    now: number,
  ): Promise<void> {
    const salt = randomBytes(SALT_BYTES).toString('hex');
    const value = canonicalJson(about);
    const inputDigest = openDigest(salt, value);
    const seq = await this.record(store, { op, subject, inputDigest }, now);
    await store.ledgerOpenings.insert({ seq, event_id: eventId, salt, value });
  }
}
