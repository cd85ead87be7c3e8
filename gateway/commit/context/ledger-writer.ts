import { randomBytes } from 'node:crypto';
import { whoColumns, type Actor } from '../../../shared/rules/actor.ts';
import { canonicalJson } from '../../../shared/rules/canonical-json.ts';
import { keyedDigest, openDigest } from '../../../shared/rules/ledger-chain.ts';
import type { Repositories } from '../../../shared/store/repositories.ts';

/** An action with one entry of its own, which isn't the result of an operation. */
interface Action {
  readonly actor: Actor;
  readonly op: string;
  readonly subject: string | null;
  readonly inputDigest?: string | undefined;
}

/** The same, about an event. */
interface OpenAction extends Omit<Action, 'inputDigest'> {
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

  /** Appends an action to the ledger, in the transaction of that action; returns the entry's seq. */
  record(store: Repositories, action: Action, now: number): Promise<number> {
    const note = {
      op: action.op,
      subject: action.subject,
      outcome: 'ok' as const,
      code: null,
      input_digest: action.inputDigest ?? null,
      result_digest: null,
      ...whoColumns(action.actor),
    };
    return store.ledger.append(note, now);
  }

  /** The same with a digest that anybody can check who is shown the salt and the value, both kept under the event. */
  async recordOpen(
    store: Repositories,
    { eventId, about, ...action }: OpenAction,
    now: number,
  ): Promise<void> {
    const salt = randomBytes(SALT_BYTES).toString('hex');
    const value = canonicalJson(about);
    const inputDigest = openDigest(salt, value);
    const seq = await this.record(store, { inputDigest, ...action }, now);
    await store.ledgerOpenings.insert({ seq, event_id: eventId, salt, value });
  }
}
