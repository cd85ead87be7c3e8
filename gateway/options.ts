import type { Logger } from 'pino';
import type { Clock } from '../shared/lib/clock.ts';
import type { ServerInfo } from '../shared/kernel/context.ts';
import type { BlobsConfig } from './blobs/blobs-config.ts';
import type { CallbackAllow } from './callbacks/callback-allow.ts';
import { type RemoteStore } from './projects/databases.ts';
import { type MessagingConfig } from './compose-messaging.ts';
import type { Metrics } from './lib/metrics.ts';
import type { DeletionClock } from './projects/trusted-clock.ts';
import type { Writers, WritersOptions } from './commit/writers.ts';

/** What a gateway is opened with. */
export interface GatewayOptions {
  readonly dataFolder: string;
  /** Bases of all addresses, without a slash at the end. */
  readonly urls: ServerInfo['urls'];
  /** Base of links to what strangers wrote: that of all others, unless given. */
  readonly contentUrl?: string;
  /** Calls a minute and key; 0 is no limit. */
  readonly ratePerMinute: number;
  readonly log: Logger;
  readonly clock?: Clock;
  /** As of when `clock` may be trusted to say that something is old enough to be deleted; for tests. */
  readonly deletionClock?: DeletionClock;
  /** The disk failed a write: the process must end. */
  readonly onFatal: (error: unknown) => void;
  /** Holds the key that seals stored secrets, and is made where it is not there: `master.key` beside the data, unless given. */
  readonly masterKeyFile?: string;
  /** Counts what happens. */
  readonly metrics?: Metrics;
  /** The server that keeps the databases: they are files in `dataFolder`, unless given. */
  readonly store?: RemoteStore;
  /** Where blobs are kept: beside the databases, unless said otherwise. */
  readonly blobs?: BlobsConfig;
  /** How people are reached: by the outbox folder beside the data, unless said otherwise. */
  readonly messaging?: MessagingConfig;
  /** Whether people may sign in by mail and make projects: on a hosted gateway. */
  readonly signIn?: boolean;
  /**
   * How many projects may have their databases open at a time; one that nobody uses for ten minutes is closed, too. Unless
   * given, all stay open, and no timer runs for that.
   */
  readonly openProjectsMax?: number;
  /** Private addresses that callbacks may be sent to, over http too: for tests and development. */
  readonly callbackAllow?: CallbackAllow;
  /** How long a receiver of callbacks has to answer: 15 seconds, unless said otherwise by a test. */
  readonly callbackDeadlineMs?: number;
  /** Where transactions run: in a thread of their own, unless said otherwise. */
  readonly openWriters?: (options: WritersOptions) => Writers;
  /** Check every answer against its schema; for tests. */
  readonly checkAnswers?: boolean;
}
