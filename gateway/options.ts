import type { Logger } from 'pino';
import type { Admission } from '../shared/admission/admission.ts';
import type { Clock } from '../shared/lib/clock.ts';
import type { ServerInfo } from '../shared/kernel/context.ts';
import type { BlobsConfig } from './blobs/blobs-config.ts';
import type { MailLimits } from './store/control/mail-use.ts';
import type { SignUpRule } from './auth/sign-up.ts';
import type { CallbackAllow } from './callbacks/callback-allow.ts';
import type { IngressConfig } from './lib/ingress-config.ts';
import type { ClusterTiming } from './cluster/cluster.ts';
import { type RemoteStore } from './store/databases.ts';
import { type MessagingConfig } from './compose-messaging.ts';
import type { Metrics } from './lib/metrics.ts';
import type { DeletionClock } from './projects/trusted-clock.ts';
import type { Writers, WritersOptions } from './commit/thread/writers.ts';

/** The options of a gateway. */
export interface GatewayOptions {
  readonly dataFolder: string;
  /** The base URLs, without a slash at the end. */
  readonly urls: ServerInfo['urls'];
  /** The base URL of links to strangers' content (default: `urls`). */
  readonly contentUrl?: string;
  /** Calls per minute and key; 0: no limit. */
  readonly ratePerMinute: number;
  readonly log: Logger;
  readonly clock?: Clock;
  /** Says up to which time deletions may trust `clock`; tests pass their own. */
  readonly deletionClock?: DeletionClock;
  /** The disk failed a write, or a mirror that everything relies on is out of date, so the process must end. */
  readonly onFatal: (error: unknown) => void;
  /** The file of the master key, created if missing (default: `master.key` in `dataFolder`). */
  readonly masterKeyFile?: string;
  /** Counts events for Prometheus. */
  readonly metrics?: Metrics;
  /** The database server (default: files in `dataFolder`). */
  readonly store?: RemoteStore;
  /** How often gateways of one store tell each other that they live; tests set it. */
  readonly clusterTiming?: ClusterTiming;
  /** Where to store blobs (default: next to the databases). */
  readonly blobs?: BlobsConfig;
  /** How to reach people (default: the outbox folder in `dataFolder`). */
  readonly messaging?: MessagingConfig;
  /** Whether people may sign in by mail and create projects, as on a hosted gateway. */
  readonly signIn?: boolean;
  /** Who may sign up (default: anyone). */
  readonly signUp?: SignUpRule;
  /** Messages of agents a day, by account and in all (default: no limit). */
  readonly mailLimits?: MailLimits;
  /**
   * The maximum number of open project databases; with it, a database closes after ten minutes without use. By
   * default all stay open, and no timer runs.
   */
  readonly openProjectsMax?: number;
  /** Private addresses that callbacks may call, even over http: for tests and development. */
  readonly callbackAllow?: CallbackAllow;
  /** Reads a sender's certificate at its host (default: over https, with the checks of callbacks); tests pass their own. */
  readonly readCertificate?: (address: string) => Promise<string | null>;
  /** How much may come in (default: as in local mode). */
  readonly ingress?: IngressConfig;
  /** How long a receiver of callbacks has to answer (default 15 s); tests set it. */
  readonly callbackDeadlineMs?: number;
  /** Limits what is open at once (default: as for one machine). */
  readonly admission?: Admission;
  /** Where transactions run (default: in a separate thread). */
  readonly openWriters?: (options: WritersOptions) => Writers;
  /** Looks at all stored data once a day, in a process of its own (default: no). */
  readonly scrubs?: boolean;
  /** Validates every answer against its schema; for tests. */
  readonly checkAnswers?: boolean;
}
