import type { AttemptOutcome } from '../../shared/rules/retry-schedule.ts';
import type { ChannelKind } from '../../shared/store/channels.ts';
import type { Carrier, Sent } from './approvals.ts';

/** What became of a mail that came in. */
export type MailOutcome = 'delivered' | 'duplicate' | 'unknown_recipient';

/** How an attempt to send a mail ended; `void` where it was not wanted any more. */
type MailSending = 'sent' | 'void' | 'later' | 'failed';

/** Is told of what happens, to count it. Called often: it is quick, and never throws. */
export interface Metrics {
  /** Events became claimable. */
  eventReady(): void;
  /** An attempt to push to a callback has ended. */
  pushed(outcome: AttemptOutcome): void;
  /** A notification was handed to its carrier. */
  posted(kind: ChannelKind, outcome: Sent['outcome']): void;
  /** A mail was taken from the mailbox. */
  mailTaken(outcome: MailOutcome): void;
  /** An attempt to send a mail of an agent has ended. */
  mailSent(outcome: MailSending): void;
}

/** What a gateway holds at this moment. */
export interface Gauges {
  /** Projects whose databases are open. */
  readonly openProjects: number;
  readonly waits: number;
  /** Streams of changes that replicas follow. */
  readonly streams: number;
  /** Writes that were asked for and are not answered. */
  readonly writes: number;
  /** 1 while the mailbox can be reached; 0 without one, too. */
  readonly mailbox: number;
  /** Mails that wait there, as of the last look. */
  readonly mailboxBacklog: number;
  /** 1 while the Telegram bot works; 0 without one, too. */
  readonly telegram: number;
}

/** The carrier, with how its notifications fare told. */
export function meteredCarrier(
  carrier: Carrier,
  kind: ChannelKind,
  metrics: Metrics | undefined,
): Carrier {
  if (!metrics) return carrier;
  return {
    async send(notification, to) {
      const sent = await carrier.send(notification, to);
      metrics.posted(kind, sent.outcome);
      return sent;
    },
  };
}
