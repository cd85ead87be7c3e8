/** The reply of a mail server that refused a mail; missing if no server answered, or the reply isn't about the mail. */
export interface SmtpReply {
  readonly smtpCode?: number | null;
  /** Such as `5.1.1` (RFC 3463); null if the server sent none. */
  readonly enhancedCode?: string | null;
}

/** The result of sending a mail or a notification. `messageId` is the channel's own id of the message, for `over`. */
export type SendResult =
  | { readonly outcome: 'sent'; readonly messageId: string | null }
  /** Try again, but not before `retryAfterSeconds`. */
  | ({
      readonly outcome: 'later';
      readonly retryAfterSeconds: number | null;
      readonly reason: string;
    } & SmtpReply)
  /** Don't try again: the address or chat refuses us. */
  | ({ readonly outcome: 'refused'; readonly reason: string } & SmtpReply);
