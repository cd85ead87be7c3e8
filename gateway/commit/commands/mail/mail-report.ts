/** A report's result for one recipient (RFC 3464, RFC 5965). */
export interface ReportedRecipient {
  readonly address: string | null;
  readonly action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded' | 'complaint';
  /** Such as `5.1.1`; null if the report has none. */
  readonly status: string | null;
  readonly diagnostic: string | null;
}

/** A report about an earlier mail. */
export interface MailReport {
  readonly kind: 'delivery' | 'complaint';
  /**
   * What says so: fields that standards define, the words of a mail server, or words that a person may write too. Such a
   * guess counts only at a return path.
   */
  readonly basis: 'fields' | 'words' | 'guess';
  /** The Message-ID of that mail, with its angle brackets. */
  readonly original_message_id: string | null;
  readonly recipients: readonly ReportedRecipient[];
}
