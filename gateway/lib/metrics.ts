import type { AttemptOutcome } from '../../shared/rules/inbox/retry-schedule.ts';
import type { ChannelKind } from '../../shared/store/tables/people/channels.ts';
import type { SendResult } from './send-result.ts';

/** The result of an incoming mail. */
export type MailOutcome = 'delivered' | 'duplicate' | 'unknown_recipient';

/** The result of an attempt to send a mail; `void` if nobody wants it any more. */
type MailAttemptResult = 'sent' | 'void' | 'later' | 'failed';

/** Counts events of the gateway. The gateway calls it often, so it must be quick and never throw. */
export interface Metrics {
  /** Events became claimable. */
  eventReady(): void;
  /** An attempt to push to a callback has ended. */
  pushed(outcome: AttemptOutcome): void;
  /** A notification was handed to its carrier. */
  posted(kind: ChannelKind, outcome: SendResult['outcome']): void;
  /** A mail was taken from the mailbox. */
  mailTaken(outcome: MailOutcome): void;
  /** An attempt to send a mail of an agent has ended. */
  mailSent(outcome: MailAttemptResult): void;
}

/** The gateway's current counts. */
export interface Gauges {
  /** Projects whose databases are open. */
  readonly openProjects: number;
  readonly waits: number;
  /** Open streams of changes to replicas. */
  readonly streams: number;
  /** Writes without an answer yet. */
  readonly writes: number;
  /** 1 while the gateway reaches the mailbox; 0 also if there is none. */
  readonly mailbox: number;
  /** Mails waiting in the mailbox at the last check. */
  readonly mailboxBacklog: number;
  /** 1 while the Telegram bot works; 0 also if there is none. */
  readonly telegram: number;
  /** Bytes, at the last look. */
  readonly diskFree: number;
  /** 0: everything comes in; 1: the largest project takes nothing in; 2: no project takes in large bodies. */
  readonly diskLevel: number;
  /** Objects in the data folder that are known to be damaged. */
  readonly damaged: number;
}
