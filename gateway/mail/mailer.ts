import type { SendResult } from '../lib/send-result.ts';

/** A complete mail to one person. */
export interface OutgoingMail {
  /** The same at every attempt; letters, digits, `_` and `-`. The Message-ID is `<id@domain of from>`. */
  readonly id: string;
  /** Addresses are plain: `local@domain`. */
  readonly from: string;
  /** The name that mail programs show with `from`. */
  readonly fromName?: string;
  /** The one who gets this message. */
  readonly to: string;
  /** The addresses in To and Cc, if they aren't `to` alone. */
  readonly shown?: { readonly to: readonly string[]; readonly cc: readonly string[] };
  /** Where replies go. Without it nobody reads them, and machines are asked not to reply. */
  readonly replyTo?: string;
  /** Where delivery reports go (RFC 5321 section 4.1.1.2). Without it they go to `from`, where nobody reads them. */
  readonly returnPath?: string;
  /** The Message-ID of the mail that this one replies to. */
  readonly inReplyTo?: string;
  /** Message-IDs that all copies of this mail refer to, so that programs show answers to any of them together. */
  readonly references?: readonly string[];
  /** One line. */
  readonly subject: string;
  readonly text: string;
  /** The same content as `text`, for programs that show HTML; sent as given. */
  readonly html?: string;
  readonly attachments?: readonly OutgoingFile[];
  /**
   * Called at most once, when a server is ready for the mail. No byte goes out before it resolves, and none at all if it
   * rejects. Sending can still fail afterwards; the outcome says so.
   */
  readonly beforeData?: () => Promise<void>;
}

/** A file attached to a mail. */
export interface OutgoingFile {
  readonly name: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** The result of sending a mail. It can have arrived only after `sent` or `unknown`. */
export type MailResult =
  | SendResult
  /** All of it went out, but the server neither accepted nor refused it. */
  | { readonly outcome: 'unknown'; readonly reason: string };

/** Sends mail to a mail server, or writes it to a folder. */
export interface Mailer {
  /** Sends a mail. Never rejects: the result says what happened. Its `messageId` is the mail's Message-ID. */
  send(mail: OutgoingMail): Promise<MailResult>;
  /** Takes no more mail, and waits briefly for mail that is being sent. */
  close(): Promise<void>;
}

/** Not sent now, for a reason of one sentence. */
export function later(reason: string): SendResult {
  return { outcome: 'later', retryAfterSeconds: null, reason };
}

/** `beforeData` rejected: nothing went out. */
export function heldBack(): SendResult {
  return later('The mail was held back before any of it was sent.');
}

/** For our notifications: one that may have arrived is sent again, with the same Message-ID. */
export function orAgain(sent: MailResult): SendResult {
  return sent.outcome === 'unknown' ? later(sent.reason) : sent;
}
