import type { Sent } from '../lib/approvals.ts';

/** A mail to one person, whole. */
export interface OutgoingMail {
  /** The same at every attempt; letters, digits, `_` and `-`. The Message-ID is `<id@domain of from>`. */
  readonly id: string;
  /** Addresses are plain: `local@domain`. */
  readonly from: string;
  /** What mail programs show beside `from`. */
  readonly fromName?: string;
  readonly to: string;
  /** Where answers go. Without it nobody reads them, and machines are asked to write none. */
  readonly replyTo?: string;
  /** Where reports about it go (RFC 5321 section 4.1.1.2); to `from` without it, where nobody reads them. */
  readonly returnPath?: string;
  /** The Message-ID of the mail that this one answers. */
  readonly inReplyTo?: string;
  /** One line. */
  readonly subject: string;
  readonly text: string;
  /** Says the same as `text`, for programs that show it; sent as given. */
  readonly html?: string;
  readonly attachments?: readonly OutgoingFile[];
  /**
   * Called at most once, when a server is ready for the mail. Not a byte of it goes out before this settles, or at all if
   * this rejects. After it a mail may still not have been sent: then the outcome says so.
   */
  readonly beforeData?: () => Promise<void>;
}

/** A file that goes with a mail. */
export interface OutgoingFile {
  readonly name: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** How a mail fared. Only after `sent` and `unknown` may it have arrived. */
export type MailSent =
  | Sent
  /** All of it went out and the server was not heard to take or to refuse it: nobody knows. */
  | { readonly outcome: 'unknown'; readonly reason: string };

/** Where mail goes: to a mail server, or into a folder. */
export interface Mailer {
  /** Hands a mail on and says how it fared, whatever happens: it does not reject. `messageId` is the Message-ID. */
  send(mail: OutgoingMail): Promise<MailSent>;
  /** Lets what is under way end, for a short while, and takes nothing more. */
  close(): Promise<void>;
}

/** Not now, for a reason that is told in one sentence. */
export function later(reason: string): Sent {
  return { outcome: 'later', retryAfterSeconds: null, reason };
}

/** What `beforeData` refused: nothing went out. */
export function heldBack(): Sent {
  return later('The mail was held back before any of it was sent.');
}

/** For notifications of ours: one that may have arrived is sent again, under the same Message-ID. */
export function orAgain(sent: MailSent): Sent {
  return sent.outcome === 'unknown' ? later(sent.reason) : sent;
}
