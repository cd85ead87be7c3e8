import type {
  ProjectInfo,
  ServerInfo,
  Vault,
  WriteEffect,
} from '../../../shared/kernel/context.ts';
import type { ReplicationPosition } from '../../../shared/store/engine/driver.ts';
import type { FileDamage } from '../../../shared/store/sums/sum-keeper.ts';
import type { Repositories } from '../../../shared/store/repositories.ts';
import type { LedgerWriter } from './ledger-writer.ts';
import type { RecentBodies } from './recent-bodies.ts';
import type { Routing } from './open-routes.ts';

/**
 * What the rest of the gateway learns about a durable transaction. Plain data, because it may cross to another
 * thread.
 */
export type Effect =
  /** Every transaction emits it, before its other effects. */
  | { readonly kind: 'committed'; readonly replication: ReplicationPosition }
  /** Another gateway wrote to the project, so earlier reads may be out of date. */
  | { readonly kind: 'foreign' }
  /** The mirror of its database must be closed, and copied again. */
  | { readonly kind: 'outdated' }
  /** A commit may be at the server and not here, so the next read must ask. */
  | { readonly kind: 'uncertain' }
  /** The writer came across damage. */
  | { readonly kind: 'damaged'; readonly damage: FileDamage }
  | WriteEffect;

/** What a command works with: the open transaction of one project, and everything it needs to write. */
export interface Job {
  readonly store: Repositories;
  readonly project: ProjectInfo;
  readonly server: ServerInfo;
  readonly vault: Vault;
  readonly ledgerWriter: LedgerWriter;
  readonly bodies: RecentBodies;
  readonly routing: Routing;
  /** A rollback drops the emitted effects. */
  readonly emit: (effect: Effect) => void;
}

/**
 * One transaction on a project. Input and output are plain data, because the transaction may run in another thread.
 * `run` awaits nothing but the store, and may run twice: see `Writer.write`.
 */
export interface Command<I, O> {
  readonly run: (job: Job, input: I) => Promise<O>;
  /** Runs in the same transaction after `run` failed and was rolled back, so that it can record the failure. */
  readonly onError?: (job: Job, input: I, error: unknown) => Promise<O>;
  /** Bytes the job holds while it is queued. */
  readonly sizeBytes?: (input: I) => number;
}

/** A step of maintenance: at most `limit` rows, as of `now`. */
export interface Portion {
  readonly now: number;
  readonly limit: number;
}

/** A step that deletes expired rows. `asOf` is a trusted time: `now` or earlier. */
export interface Deletion extends Portion {
  readonly asOf: number;
}
