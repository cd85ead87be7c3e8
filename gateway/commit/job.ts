import type { ProjectInfo, ServerInfo, Vault, WriteEffect } from '../../shared/kernel/context.ts';
import type { Query, ReplicationPosition } from '../../shared/store/driver.ts';
import type { Repositories } from '../../shared/store/repositories.ts';
import type { LedgerWriter } from './ledger-writer.ts';
import type { RecentBodies } from './recent-bodies.ts';
import type { Routing } from './open-routes.ts';

/** What the rest of the gateway must know of a transaction once it is durable. Plain data: it may cross to another thread. */
export type Effect =
  /** Comes with every transaction, before its other effects. */
  | { readonly kind: 'committed'; readonly replication: ReplicationPosition }
  /** Another gateway has written to the project: what was read before may be out of date. */
  | { readonly kind: 'foreign' }
  | WriteEffect;

/** What a command works with: the open transaction of one project, and what it takes to fill it. */
export interface Job {
  readonly store: Repositories;
  readonly project: ProjectInfo;
  readonly server: ServerInfo;
  readonly vault: Vault;
  readonly ledgerWriter: LedgerWriter;
  readonly bodies: RecentBodies;
  readonly routing: Routing;
  /** Forgotten when the transaction does not come to be. */
  readonly emit: (effect: Effect) => void;
}

/**
 * Something that is done to a project in one transaction. Input and output are plain data, because the transaction may
 * run in another thread. It awaits nothing but the store, and may run twice: see `Writer.write`.
 */
export interface Command<I, O> {
  readonly run: (job: Job, input: I) => Promise<O>;
  /** Runs when `run` failed and was undone, in the same transaction: may record the failure. */
  readonly onError?: (job: Job, input: I, error: unknown) => Promise<O>;
  /** What it will ask for: see `WriteOptions`. */
  readonly ahead?: (input: I) => readonly Query[];
  /** Bytes the job holds while it is queued. */
  readonly sizeBytes?: (input: I) => number;
}

/** A step of maintenance: at most so many rows, as of a time. */
export interface Portion {
  readonly now: number;
  readonly limit: number;
}

/** A step that deletes rows past their time, as of a time that can be trusted: `now`, or an earlier one. */
export interface Deletion extends Portion {
  readonly asOf: number;
}
