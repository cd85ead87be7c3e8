import { ServiceError, unavailable } from '../../shared/lib/errors.ts';
import type { CommandName } from '../commit/commands.ts';

/** How far a project's move to another gateway has come. */
export type MigrationState =
  | { readonly kind: 'active' }
  /** About to become read-only: results of work under way are written, and no new work starts. */
  | { readonly kind: 'draining' }
  /** Reads only. */
  | { readonly kind: 'readonly' }
  /** It lives at another gateway; this one answers nothing for it. */
  | { readonly kind: 'moved'; readonly to: string | null }
  /** It is being deleted; nobody finds it any more. */
  | { readonly kind: 'deleted' };

/** Results of work that began earlier; without them it would be done twice. */
const WHILE_DRAINING: ReadonlySet<CommandName> = new Set([
  'handMail',
  'recordAttempts',
  'recordNotifications',
  'recordMail',
]);

/**
 * Bookkeeping of reads, with the answer given when it's skipped because writes are closed. Bytes that links send
 * meanwhile are owed by their counter and reserved with the next ones sent.
 */
const FORGONE: ReadonlyMap<CommandName, null | 0> = new Map<CommandName, null | 0>([
  ['noteUse', null],
  ['refundTransfer', null],
  ['reserveTransfer', 0],
]);

const READONLY_RETRY_SECONDS = 5;
const UNSURE_RETRY_SECONDS = 2;
const MOVED_RETRY_SECONDS = 60;

/**
 * All reads and writes of a project pass here. While the project is read-only, every write is refused, whichever
 * route it came by; once it has moved or is being deleted, every read too. The error is UNAVAILABLE, so senders keep
 * their data and retry; UNAUTHENTICATED for a deleted project.
 */
export class WriteGate {
  #migrationState: MigrationState;
  readonly #mayWrite: () => boolean;
  #atHand = 0;
  #whenNone: (() => void) | null = null;

  /** `mayWrite`: false while the project may have moved; that shows in seconds. */
  constructor(migrationState: MigrationState, mayWrite: () => boolean) {
    this.#migrationState = migrationState;
    this.#mayWrite = mayWrite;
  }

  /** Whether all writes are allowed. */
  get isOpen(): boolean {
    return this.#migrationState.kind === 'active';
  }

  /** Whether it answers nothing any more. */
  get isGone(): boolean {
    const { kind } = this.#migrationState;
    return kind === 'moved' || kind === 'deleted';
  }

  get isDraining(): boolean {
    return this.#migrationState.kind === 'draining';
  }

  transitionTo(migrationState: MigrationState): void {
    this.#migrationState = migrationState;
  }

  /** Resolves when all writes let in earlier are done. */
  async drained(): Promise<void> {
    if (this.#atHand > 0) await new Promise<void>((resolve) => (this.#whenNone = resolve));
  }

  async write<T>(name: CommandName, work: () => Promise<T>): Promise<T> {
    const { kind } = this.#migrationState;
    const isLetIn = kind === 'active' || (kind === 'draining' && WHILE_DRAINING.has(name));
    const isUnsure = !this.#mayWrite();
    if (!isLetIn || isUnsure) {
      const answer = FORGONE.get(name);
      if (answer === undefined)
        throw isUnsure ? unavailable(UNSURE_RETRY_SECONDS) : this.#refusal();
      return answer as T;
    }
    this.#atHand += 1;
    try {
      return await work();
    } finally {
      this.#atHand -= 1;
      if (this.#atHand === 0) this.#whenNone?.();
    }
  }

  async read<T>(work: () => Promise<T>): Promise<T> {
    if (this.isGone) throw this.#refusal();
    return work();
  }

  #refusal(): ServiceError {
    const at = this.#migrationState;
    if (at.kind === 'deleted') return new ServiceError('UNAUTHENTICATED');
    if (at.kind !== 'moved') {
      return new ServiceError('UNAVAILABLE', {
        hint: 'This project is moving to another gateway. It can be read but not written until the move is done. Repeat the call until then.',
        details: { retry_after: READONLY_RETRY_SECONDS },
      });
    }
    const where =
      at.to === null ? 'another gateway. Ask whoever runs this one for' : `${at.to}. Use`;
    return new ServiceError('UNAVAILABLE', {
      hint: `This project has moved to ${where} that address, or repeat the call once this one leads there.`,
      details: { retry_after: MOVED_RETRY_SECONDS, ...(at.to !== null && { moved_to: at.to }) },
    });
  }
}
